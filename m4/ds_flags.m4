# SPDX-License-Identifier: Apache-2.0
# Compiler and linker flags.  Each is probed, because gcc and clang differ;
# the loop variables carry a prefix, because m4 would rewrite every word that
# looks like a short one.

# DS_TRY_CFLAG(VAR, FLAG): add FLAG to VAR if the compiler takes it silently.
AC_DEFUN([DS_TRY_CFLAG], [
  AS_VAR_PUSHDEF([ds_cv], [ds_cv_cflag_$2])
  AC_CACHE_CHECK([whether $CC takes $2], [ds_cv],
    [ds_save_CFLAGS=$CFLAGS
     CFLAGS="-Werror $2"
     AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
       [AS_VAR_SET([ds_cv], [yes])], [AS_VAR_SET([ds_cv], [no])])
     CFLAGS=$ds_save_CFLAGS])
  AS_VAR_IF([ds_cv], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([ds_cv])
])

# DS_TRY_LDFLAG(VAR, FLAG): the same for the linker.
AC_DEFUN([DS_TRY_LDFLAG], [
  AS_VAR_PUSHDEF([ds_cv], [ds_cv_ldflag_$2])
  AC_CACHE_CHECK([whether the linker takes $2], [ds_cv],
    [ds_save_LDFLAGS=$LDFLAGS
     LDFLAGS="$LDFLAGS -Werror $2"
     AC_LINK_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
       [AS_VAR_SET([ds_cv], [yes])], [AS_VAR_SET([ds_cv], [no])])
     LDFLAGS=$ds_save_LDFLAGS])
  AS_VAR_IF([ds_cv], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([ds_cv])
])

AC_DEFUN([DS_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [warnings are errors @<:@no@:>@])],
    [], [enable_werror=no])
  WARN_CFLAGS=
  m4_foreach_w([ds_m4_flag],
    [-Wall -Wextra -Wformat=2 -Wconversion -Wsign-conversion
     -Wimplicit-fallthrough -Wshadow -Wvla -Wstrict-prototypes
     -Wmissing-prototypes -Wold-style-definition -Wwrite-strings
     -Wpointer-arith -Wtrampolines],
    [DS_TRY_CFLAG([WARN_CFLAGS], ds_m4_flag)])
  AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
  AC_SUBST([WARN_CFLAGS])
])

# Not -z nodlopen: Python could not load the library then.
# Fortification needs the optimiser and disturbs the sanitizers.
AC_DEFUN([DS_HARDENING], [
  HARD_CFLAGS=
  HARD_LDFLAGS=
  AS_IF([test "x$enable_sanitize" = xno],
    [AS_CASE([" $CFLAGS "],
       [*" -O0 "*], [],
       [DS_TRY_CFLAG([HARD_CFLAGS], [[-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3]])])
     m4_foreach_w([ds_m4_flag],
       [-fstack-protector-strong -fstack-clash-protection
        -fcf-protection=full -ftrivial-auto-var-init=zero],
       [DS_TRY_CFLAG([HARD_CFLAGS], ds_m4_flag)])])
  DS_TRY_LDFLAG([HARD_LDFLAGS], [-Wl,-z,relro,-z,now])
  DS_TRY_LDFLAG([HARD_LDFLAGS], [-Wl,-z,noexecstack])
  DS_TRY_LDFLAG([HARD_LDFLAGS], [-Wl,--as-needed])
  AC_SUBST([HARD_CFLAGS])
  AC_SUBST([HARD_LDFLAGS])
])

# libFuzzer and its own main() come with clang.  All code is compiled for it
# (FUZZ_CFLAGS); only the targets are linked with it.  A fuzzer sees little
# without the sanitizers, so they are on unless others were asked for: this
# stands before DS_SANITIZE.
AC_DEFUN([DS_FUZZ], [
  AC_ARG_ENABLE([fuzz],
    [AS_HELP_STRING([--enable-fuzz],
      [build the fuzz targets with libFuzzer, and with sanitizers; needs clang @<:@no@:>@])],
    [], [enable_fuzz=no])
  FUZZ_CFLAGS=
  FUZZ_LIBS=
  AS_IF([test "x$enable_fuzz" = xyes],
    [FUZZ_CFLAGS=-fsanitize=fuzzer-no-link
     FUZZ_LIBS=-fsanitize=fuzzer
     ds_save_CFLAGS=$CFLAGS
     CFLAGS="$CFLAGS $FUZZ_LIBS"
     AC_MSG_CHECKING([whether $CC has libFuzzer])
     AC_LINK_IFELSE([AC_LANG_SOURCE([[
         #include <stddef.h>
         int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);
         int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
         { return p == NULL && n > 0; }]])],
       [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([--enable-fuzz: $CC has no libFuzzer: configure with CC=clang])])
     CFLAGS=$ds_save_CFLAGS
     AS_IF([test "x$enable_sanitize" = x], [enable_sanitize=address,undefined])])
  AM_CONDITIONAL([FUZZ], [test "x$enable_fuzz" = xyes])
  AC_SUBST([FUZZ_CFLAGS])
  AC_SUBST([FUZZ_LIBS])
])

AC_DEFUN([DS_SANITIZE], [
  AC_ARG_ENABLE([sanitize],
    [AS_HELP_STRING([--enable-sanitize=LIST],
      [address,undefined or thread @<:@no@:>@])],
    [AS_IF([test "x$enableval" = xyes], [enable_sanitize=address,undefined])],
    [enable_sanitize=${enable_sanitize:-no}])
  SAN_FLAGS=
  AS_IF([test "x$enable_sanitize" != xno],
    [SAN_FLAGS="-fsanitize=$enable_sanitize -fno-sanitize-recover=all -fno-omit-frame-pointer"
     ds_save_CFLAGS=$CFLAGS
     CFLAGS="$CFLAGS $SAN_FLAGS"
     AC_MSG_CHECKING([whether -fsanitize=$enable_sanitize works])
     AC_LINK_IFELSE([AC_LANG_PROGRAM([[]], [[]])],
       [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([--enable-sanitize=$enable_sanitize: $CC cannot link it])])
     CFLAGS=$ds_save_CFLAGS])
  AC_DEFINE_UNQUOTED([SANITIZERS], ["$enable_sanitize"], [the sanitizers built in])
  AC_SUBST([SAN_FLAGS])
])

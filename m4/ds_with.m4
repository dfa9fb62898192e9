# SPDX-License-Identifier: Apache-2.0
# Optional parts: one line of configure.ac each, all reading the same.
#
#   auto  use it when it is there        (the default)
#   yes   stop when it is not there
#   no    do not look
#
# AM_CONDITIONAL must be reached on every path, so it stands outside AS_IF.

# DS_PART(NAME, VAR, WHAT): what every optional part ends with.
AC_DEFUN([DS_PART], [
  AC_SUBST([$2_CFLAGS])
  AC_SUBST([$2_LIBS])
  AM_CONDITIONAL([WITH_$2], [test "x$ds_have_$1" = xyes])
  AM_COND_IF([WITH_$2], [AC_DEFINE([WITH_$2], [1], [$3])])
])

# DS_ARG(NAME, WHAT): the --with option, and the answer until it is known.
AC_DEFUN([DS_ARG], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1], [$2 @<:@auto@:>@])], [], [with_$1=auto])
  ds_have_$1=no
])

# DS_MISSING(NAME, REASON): an explicit yes that fails is an error.
AC_DEFUN([DS_MISSING], [
  AS_IF([test "x$with_$1" != xauto],
    [AC_MSG_ERROR([--with-$1 was given but $2])])
])

# DS_WITH_PKG(NAME, VAR, MODULE, WHAT): a library with a pkg-config file.
AC_DEFUN([DS_WITH_PKG], [
  DS_ARG([$1], [$4])
  AS_IF([test "x$with_$1" != xno],
    [PKG_CHECK_MODULES([$2], [$3], [ds_have_$1=yes],
      [DS_MISSING([$1], [$3 was not found])])])
  DS_PART([$1], [$2], [$4])
])

# DS_WITH_LIB(NAME, VAR, HEADER, LIB, FUNCTION, WHAT): a library without one.
AC_DEFUN([DS_WITH_LIB], [
  DS_ARG([$1], [$6])
  AS_IF([test "x$with_$1" != xno],
    [AC_CHECK_HEADER([$3],
       [AC_CHECK_LIB([$4], [$5], [ds_have_$1=yes; $2_LIBS=-l$4])])
     AS_IF([test "x$ds_have_$1" = xno],
       [DS_MISSING([$1], [lib$4 was not found])])])
  DS_PART([$1], [$2], [$6])
])

# DS_WITH_HEADER(NAME, VAR, HEADER, DIR, WHAT): only the header is needed to
# build (the library is opened at run time).  --with-NAME=DIR says where it is.
AC_DEFUN([DS_WITH_HEADER], [
  DS_ARG([$1], [$5; a directory says where])
  AS_CASE([x$with_$1],
    [x/*], [ds_dir_$1=$with_$1],
    [ds_dir_$1=$4])
  ds_save_CPPFLAGS=$CPPFLAGS
  AS_IF([test "x$with_$1" != xno],
    [CPPFLAGS="$CPPFLAGS -I$ds_dir_$1/include"
     AC_CHECK_HEADER([$3],
       [ds_have_$1=yes; $2_CFLAGS="-isystem $ds_dir_$1/include"],
       [DS_MISSING([$1], [$3 was not found in $ds_dir_$1/include])])])
  CPPFLAGS=$ds_save_CPPFLAGS
  DS_PART([$1], [$2], [$5])
])

# DS_WITH_PYTHON: the interpreter that scenario tests and benchmarks use, and
# into which the start-up hook is installed.  The system's own comes first:
# that is where Debian puts PyTorch.
AC_DEFUN([DS_WITH_PYTHON], [
  DS_ARG([python], [Python >= 3.8; a path says which])
  AS_CASE([x$with_python],
    [x/*], [PYTHON=$with_python],
    [AS_IF([test "x$PYTHON" = x && test -x /usr/bin/python3],
       [PYTHON=/usr/bin/python3])])
  AS_IF([test "x$with_python" != xno],
    [AM_PATH_PYTHON([3.8], [ds_have_python=yes],
      [DS_MISSING([python], [no Python >= 3.8 was found])])],
    [PYTHON=])
  AM_CONDITIONAL([WITH_PYTHON], [test "x$ds_have_python" = xyes])
  AM_COND_IF([WITH_PYTHON],
    [AC_DEFINE([WITH_PYTHON], [1], [the package for Python is installed])
     DS_PYTHONDIR])
])

# DS_PYTHONDIR: where the package goes.  Below the prefix there may be a folder
# that this Python searches, under a name that automake does not know: Debian's
# is dist-packages.
AC_DEFUN([DS_PYTHONDIR], [
  AC_ARG_WITH([pythondir],
    [AS_HELP_STRING([--with-pythondir=DIR],
      [where Python's modules are installed @<:@the folder below PREFIX that Python searches@:>@])],
    [pythondir=$with_pythondir],
    [ds_prefix=$prefix
     test "x$ds_prefix" != xNONE || ds_prefix=$ac_default_prefix
     ds_site=`$PYTHON -c 'import site, sys
prefix = sys.argv.pop()
for d in site.getsitepackages():
    if d.startswith(prefix + "/lib"):
        print(d.replace(prefix, "${prefix}", 1))
        break' "$ds_prefix" 2> /dev/null`
     test "x$ds_site" = x || pythondir=$ds_site])
])

# DS_REQUIRE_TURBO: the plain IJG library has neither jpeg_crop_scanline nor
# the speed.
AC_DEFUN([DS_REQUIRE_TURBO], [
  AC_MSG_CHECKING([whether libjpeg is libjpeg-turbo])
  ds_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $JPEG_CFLAGS"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
      #include <stdio.h>
      #include <jpeglib.h>
      #if LIBJPEG_TURBO_VERSION_NUMBER < 1005000
      #error too old, or another library
      #endif]], [[]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([libjpeg-turbo >= 1.5 is required, another libjpeg was found])])
  CPPFLAGS=$ds_save_CPPFLAGS
])

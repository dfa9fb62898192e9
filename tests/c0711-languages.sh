# SPDX-License-Identifier: Apache-2.0
# c0711: what the libraries of C, C++, Python, Perl, Node and Java read through
# the cache is what they read without it, in all the ways that they have.
# Those that are not installed are named, and the others tried.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/compat.sh"
need_hub

mkset "$work/origin" 14 1000 40000
seq 1 3000 > "$work/origin/lines"
age "$work/origin"

# has NAME: or says that it is not tried.
has() {
	! command -v "$1" > /dev/null || return 0
	echo "NOT TRIED: $1 is not installed"
	return 1
}

mkdir "$work/bin"
bin=$work/bin streams=$(harness streams)
export bin streams
cat > "$work/steps" << 'END'
. ../steps.sh
files=$(find set -type f | sort)
nr=15
mkdir result/kept
END

# tries HITS NAME CMD...: a step, with the names of all files at its end.
tries() {
	hits=$1
	shift
	echo "reads $hits $* \$files" >> "$work/steps"
}

tries 100 c '"$streams"'

#--- C++ ----------------------------------------------------------------------

cat > "$bin/streams.cc" << 'END'
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

static unsigned long
sum(const std::string &s)
{
	unsigned long n = 0;
	for (unsigned char c : s)
		n = n * 31 + c;
	return n;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		std::ifstream a(argv[i], std::ios::binary), b(argv[i]), c;
		std::string all((std::istreambuf_iterator<char>(a)), {}), line;
		std::vector<char> v(std::filesystem::file_size(argv[i]));
		std::ostringstream copy;
		unsigned long lines = 0;
		std::filebuf f;

		c.open(argv[i], std::ios::binary | std::ios::ate);
		std::cout << argv[i] << ' ' << sum(all) << ' ' << c.tellg();
		c.seekg(0);
		c.read(v.data(), static_cast<std::streamsize>(v.size()));
		std::cout << ' ' << c.gcount() << ' ' << sum({ v.begin(), v.end() });
		while (std::getline(b, line))
			lines += sum(line);
		c.clear();
		c.seekg(-10, std::ios::end);
		std::cout << ' ' << lines << ' ' << c.get() << ' ' << c.tellg();
		f.open(argv[i], std::ios::in);
		std::cout << ' ' << f.in_avail();
		copy << &f;
		std::cout << ' ' << sum(copy.str()) << '\n';
	}
}
END
if has g++; then
	g++ -std=c++17 -O1 -o "$bin/cc" "$bin/streams.cc" > "$work/out" 2>&1 || fail "g++"
	tries 60 cc '"$bin/cc"'
fi

#--- Python -------------------------------------------------------------------

cat > "$bin/read.py" << 'END'
import fcntl, hashlib, io, mmap, multiprocessing, os, pathlib, shutil, socket, sys, threading
from concurrent.futures import ThreadPoolExecutor

def by_mmap(f, access):
    with open(f, "rb") as fp, mmap.mmap(fp.fileno(), 0, access=access) as m:
        return m[:]

def by_private_mmap(f):
    fd = os.open(f, os.O_RDONLY)
    m = mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    os.close(fd)
    first = m[0]
    m[0] = first ^ 1
    m[0] = m[0] ^ 1
    return m[:]

def by_os(f):
    fd = os.open(f, os.O_RDONLY | os.O_CLOEXEC)
    parts = []
    while part := os.read(fd, 4097):
        parts.append(part)
    os.close(fd)
    return b"".join(parts)

def by_pread(f):
    fd = os.open(f, os.O_RDONLY)
    size = os.fstat(fd).st_size
    data = b"".join(os.pread(fd, 1000, at) for at in range(0, size, 1000))
    os.close(fd)
    return data

def by_preadv(f):
    with open(f, "rb", buffering=0) as fp:
        a, b = bytearray(100), bytearray(os.fstat(fp.fileno()).st_size - 100)
        os.preadv(fp.fileno(), [a, b], 0)
        return bytes(a + b)

def by_sendfile(f):
    a, b = socket.socketpair()
    got = []
    def receive():
        while part := b.recv(65536):
            got.append(part)
    t = threading.Thread(target=receive)
    t.start()
    with open(f, "rb") as fp:
        at, size = 0, os.fstat(fp.fileno()).st_size
        while at < size:
            at += os.sendfile(a.fileno(), fp.fileno(), at, size - at)
    a.close()
    t.join()
    b.close()
    return b"".join(got)

def by_splice(f):
    r, w = os.pipe()
    fd = os.open(f, os.O_RDONLY)
    parts = []
    while n := os.splice(fd, w, 4096):
        parts.append(os.read(r, n))
    for x in (r, w, fd):
        os.close(x)
    return b"".join(parts)

def by_range(f):
    with open(f, "rb") as a, open("result/range", "wb") as b:
        while os.copy_file_range(a.fileno(), b.fileno(), 10000):
            pass
    return open("result/range", "rb").read()

def by_range_at(f):
    with open(f, "rb") as a, open("result/range", "wb+") as b:
        b.write(b"at two places")
        b.flush()
        size = os.fstat(a.fileno()).st_size
        print(os.copy_file_range(a.fileno(), b.fileno(), size - 10, 10, 3), a.tell(), b.tell(),
              os.copy_file_range(a.fileno(), b.fileno(), 10, size + 1, 3),
              os.copy_file_range(a.fileno(), b.fileno(), 4), os.lseek(a.fileno(), 0, 1),
              os.lseek(b.fileno(), 0, 1))
    return open("result/range", "rb").read()

def by_copy(f):
    shutil.copyfile(f, "result/copy")
    return open("result/copy", "rb").read()

def by_dir(f):
    d = os.open(os.path.dirname(f), os.O_RDONLY | os.O_DIRECTORY)
    fd = os.open(os.path.basename(f), os.O_RDONLY, dir_fd=d)
    os.close(d)
    with open(fd, "rb") as fp:
        return fp.read()

def by_number(f):
    with open(f, "rb") as fp, open("/dev/fd/%d" % fp.fileno(), "rb") as again:
        return again.read()

def by_stream(f):
    with io.open(f, "r", encoding="latin-1", newline="") as fp:
        return fp.read().encode("latin-1")

def by_lines(f):
    with open(f, "rb") as fp:
        return b"".join(fp)

ways = [by_os, by_pread, by_preadv, by_sendfile, by_splice, by_range, by_range_at, by_copy, by_dir,
        by_number, by_stream, by_lines, by_private_mmap,
        lambda f: by_mmap(f, mmap.ACCESS_READ), lambda f: by_mmap(f, mmap.ACCESS_COPY),
        lambda f: pathlib.Path(f).read_bytes(),
        lambda f: open(f, "rb", buffering=0).readall()]

def digest(data):
    return hashlib.md5(data).hexdigest()

def whole(f):
    with open(f, "rb") as fp:
        return digest(fp.read())

def lock(f, take):
    """Whether a lock of a reader keeps out one who would write; and its bytes."""
    with open(f, "rb") as reader, open(f, "rb+") as writer:
        first = reader.read(7) + os.read(reader.fileno(), 3)
        at = os.lseek(reader.fileno(), 0, os.SEEK_CUR)
        flags = [fcntl.fcntl(reader.fileno(), c) for c in (fcntl.F_GETFL, fcntl.F_GETFD)]
        take(reader, fcntl.LOCK_SH | fcntl.LOCK_NB)
        assert os.lseek(reader.fileno(), 0, os.SEEK_CUR) == at
        assert flags == [fcntl.fcntl(reader.fileno(), c) for c in (fcntl.F_GETFL, fcntl.F_GETFD)]
        assert os.fstat(reader.fileno()) == os.stat(f)
        pid = os.fork()
        if pid == 0:
            try:
                take(writer, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os._exit(1)
            os._exit(0)
        return os.waitpid(pid, 0)[1], digest(first + reader.read())

files = sys.argv[1:]
for f in files[:3]:
    print(f, lock(f, fcntl.flock), lock(f, fcntl.lockf))
for f in files:
    with open(f, "rb") as fp:
        assert os.fstat(fp.fileno()) == os.stat(f), f
        assert not os.get_inheritable(fp.fileno())
        assert os.path.sameopenfile(fp.fileno(), fp.fileno())
        assert os.path.samestat(os.fstat(fp.fileno()), os.stat(f))
        os.posix_fadvise(fp.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        fp.seek(-5, 2)
        print(f, fp.tell(), fp.read(), fp.seekable(), fp.fileno())
    print(*(digest(way(f)) for way in ways))
shutil.copy2(files[0], "result/kept/copy2")
shutil.copytree("set", "result/kept/tree")
print(os.fstatvfs(os.open(files[0], os.O_RDONLY))[:2] == os.statvfs(files[0])[:2])
with multiprocessing.get_context("fork").Pool(3) as pool:
    print(pool.map(whole, files))
with ThreadPoolExecutor(8) as pool:
    print(list(pool.map(whole, files * 4)))
END
tries 200 python '"$PYTHON" "$bin/read.py"'

#--- Perl ---------------------------------------------------------------------

cat > "$bin/read.pl" << 'END'
use strict;
use Digest::MD5;
use Fcntl;
for my $f (@ARGV) {
	open(my $a, "<", $f) or die "$f: $!";
	binmode $a;
	my ($all, $part, @lines);
	{ local $/; $all = <$a>; }
	print "$f ", Digest::MD5::md5_hex($all), " ", tell($a), " ", eof($a) ? 1 : 0;
	seek($a, 0, 0);
	print " ", Digest::MD5->new->addfile($a)->hexdigest;
	seek($a, 0, 0);
	@lines = <$a>;
	print " ", scalar(@lines), " ", length($lines[-1]);
	print " ", "@{[stat($a)]}" eq "@{[stat($f)]}" ? "same" : "other";
	print " ", -s $a, " ", -r $a ? 1 : 0, " ", -f $a ? 1 : 0, " ", -k $a ? 1 : 0;
	sysopen(my $b, $f, O_RDONLY) or die "$f: $!";
	sysseek($b, 500, 0);
	print " ", sysread($b, $part, 333), " ", Digest::MD5::md5_hex($part);
	open(my $c, "<&", $b) or die "$!";
	print " ", sysread($c, $part, 10), " ", unpack("H*", $part), "\n";
}
@ARGV = ($ARGV[0], $ARGV[1]);
while (<>) { $. == 1 and print length($_), "\n"; }
print -T $ARGV ? "text" : "data", "\n";
END
! has perl || tries 30 perl 'perl "$bin/read.pl"'

#--- Node ---------------------------------------------------------------------

cat > "$bin/read.js" << 'END'
const fs = require('fs');
const crypto = require('crypto');
const md5 = (b) => crypto.createHash('md5').update(b).digest('hex');
const files = process.argv.slice(2);

function same(fd, f) {
	const a = fs.fstatSync(fd, { bigint: true }), b = fs.statSync(f, { bigint: true });
	return Object.keys(b).every((k) => typeof b[k] !== 'bigint' || a[k] === b[k]);
}

function stream(f) {
	return new Promise((done, failed) => {
		const h = crypto.createHash('md5');
		fs.createReadStream(f).on('data', (d) => h.update(d))
		    .on('error', failed).on('end', () => done(h.digest('hex')));
	});
}

(async () => {
	for (const f of files) {
		const fd = fs.openSync(f, 'r');
		const part = Buffer.alloc(100);
		console.log(f, md5(fs.readFileSync(f)), same(fd, f), fs.fstatSync(fd).size,
		    fs.readSync(fd, part, 0, 100, 300), md5(part));
		fs.closeSync(fd);
		const h = await fs.promises.open(f);
		console.log((await h.stat()).ino === fs.statSync(f).ino, md5(await h.readFile()));
		await h.close();
		console.log(await stream(f));
	}
	console.log(await Promise.all(files.map((f) => fs.promises.readFile(f).then(md5))));
	fs.copyFileSync(files[0], 'result/node-copy');
	fs.cpSync(files[1], 'result/kept/node-cp', { preserveTimestamps: true });
})();
END
! has node || tries 60 node 'node "$bin/read.js"'

#--- Java ---------------------------------------------------------------------

cat > "$bin/Read.java" << 'END'
import java.io.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.stream.*;

public class Read {
	static String md5(byte[] b) throws Exception {
		return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(b));
	}

	static byte[] map(Path p) throws IOException {
		try (FileChannel c = FileChannel.open(p, StandardOpenOption.READ)) {
			MappedByteBuffer m = c.map(FileChannel.MapMode.READ_ONLY, 0, c.size());
			byte[] b = new byte[m.remaining()];
			m.get(b);
			return b;
		}
	}

	static byte[] transfer(Path p) throws IOException {
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		try (FileInputStream in = new FileInputStream(p.toFile())) {
			in.getChannel().transferTo(0, in.available(), Channels.newChannel(out));
		}
		return out.toByteArray();
	}

	public static void main(String[] args) throws Exception {
		for (String f : args) {
			Path p = Path.of(f);
			System.out.print(f + " " + md5(Files.readAllBytes(p)) + " " + md5(map(p)) + " " +
			    md5(transfer(p)));
			try (InputStream in = new BufferedInputStream(new FileInputStream(f), 100)) {
				System.out.print(" " + md5(in.readAllBytes()));
			}
			try (RandomAccessFile r = new RandomAccessFile(f, "r")) {
				r.seek(r.length() - 7);
				System.out.print(" " + r.length() + " " + r.read() + " " + r.getFilePointer());
			}
			try (Stream<String> lines = new BufferedReader(new FileReader(f,
			    java.nio.charset.StandardCharsets.ISO_8859_1)).lines()) {
				System.out.println(" " + lines.count());
			}
		}
		Files.copy(Path.of(args[0]), Path.of("result/kept/java-copy"),
		    StandardCopyOption.COPY_ATTRIBUTES);
		System.out.println(Arrays.stream(args).parallel().map(f -> {
			try {
				return md5(Files.readAllBytes(Path.of(f)));
			} catch (Exception e) {
				return e.toString();
			}
		}).collect(Collectors.joining(" ")));
	}
}
END
if has javac && has java; then
	javac -d "$bin" "$bin/Read.java" > "$work/out" 2>&1 || fail "javac"
	tries 75 java 'java -Xshare:auto -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp "$bin" Read'
fi

compare_all

# That nothing was read is no agreement.
for f in "$work"/plain/*.status; do
	grep -qx 0 "$f" || fail "$f: $(cat "$f" "${f%status}err")"
done

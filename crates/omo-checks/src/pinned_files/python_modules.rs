//! The modules that a run of Python may load before it comes to the project's own: one of the same name in the project
//! is loaded in their place.

/// Whether a file or folder of this name is loaded in the place of a module of Python itself or of a runner.
pub(super) fn shadows_python(name: &str) -> bool {
    let (module, ending) = name.split_once('.').unwrap_or((name, ""));
    let is_module = ending.is_empty() || ["py", "pyc", "so", "pyd"].iter().any(|end| ending.ends_with(end));
    is_module && is_loaded_module(module)
}

/// Whether Python has a module of this name that it is asked to run, once that is installed.
pub(super) fn is_installed_module(name: &str) -> bool {
    const TOOLS: &str = "\
        behave django flake8 hypothesis invoke isort black mypy nose2 nox pip pre_commit pycodestyle pyflakes pylint \
        pyright ruff slipcover tox trial twisted virtualenv build vulture bandit robot green twine sphinx mkdocs";
    is_loaded_module(name) || TOOLS.split_ascii_whitespace().any(|known| known == name)
}

fn is_loaded_module(name: &str) -> bool {
    MODULES.split_ascii_whitespace().any(|known| known == name)
}

/// The standard library from 3.8 to 3.14, and what pytest loads. Those that are always within the interpreter cannot be
/// shadowed, and `parser`, `symbol` and `formatter`, which are gone since 3.10, are loaded by none of them: work often
/// has files of these names.
const MODULES: &str = "\
    __future__ _aix_support _android_support _apple_support _ast _ast_unparse _asyncio _bisect _blake2 _bootlocale \
    _bootsubprocess _bz2 _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _collections_abc \
    _colorize _compat_pickle _compression _contextvars _crypt _csv _ctypes _ctypes_test _curses _curses_panel \
    _datetime _dbm _decimal _dummy_thread _elementtree _gdbm _hashlib _heapq _hmac _interpchannels _interpqueues \
    _interpreters _ios_support _json _lsprof _lzma _markupbase _md5 _msi _multibytecodec _multiprocessing _opcode \
    _opcode_metadata _osx_support _overlapped _peg_parser _pickle _posixshmem _posixsubprocess _py_abc _py_warnings \
    _pydatetime _pydecimal _pyio _pylong _pyrepl _pytest _queue _random _remote_debugging _scproxy _sha1 _sha2 \
    _sha256 _sha3 _sha512 _sitebuiltins _socket _sqlite3 _ssl _statistics _strptime _struct _threading_local \
    _tkinter _tokenize _types _uuid _weakrefset _wmi _zoneinfo _zstd abc aifc annotationlib argparse array \
    ast asynchat asyncio asyncore atexit audioop base64 bdb binascii binhex bisect bz2 cProfile calendar cgi cgitb \
    chunk cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser \
    contextlib contextvars copy copyreg coverage crypt csv ctypes curses dataclasses datetime dbm decimal difflib \
    dis distutils doctest dummy_threading email encodings ensurepip enum exceptiongroup faulthandler fcntl filecmp \
    fileinput fnmatch fractions ftplib functools genericpath getopt getpass gettext glob graphlib grp gzip hashlib \
    heapq hmac html http imaplib imghdr imp importlib iniconfig inspect io ipaddress json keyword linecache locale \
    logging lzma macpath macurl2path mailbox mailcap math mimetypes mmap modulefinder msilib msvcrt multiprocessing \
    netrc nis nntplib ntpath nturl2path numbers opcode operator optparse os ossaudiodev packaging pathlib pdb pickle \
    pickletools pipes pkgutil platform plistlib pluggy poplib posixpath pprint profile pstats pty pwd py py_compile \
    pyclbr pydoc pydoc_data pyexpat pygments pytest queue quopri random re readline reprlib resource rlcompleter \
    runpy sched secrets select selectors shelve shlex shutil signal site sitecustomize smtpd smtplib sndhdr socket \
    socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct \
    subprocess sunau symtable sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap threading timeit \
    tkinter token tokenize tomli tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest \
    urllib usercustomize uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc \
    zipapp zipfile zipimport zlib zoneinfo";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_a_runner_needs_is_shadowed_by_what_python_would_load() {
        for (name, expected) in [
            ("unittest.py", true),
            ("unittest", true),
            ("difflib.cpython-311-x86_64-linux-gnu.so", true),
            ("argparse.pyc", true),
            ("csv.py", true),
            ("socket.py", true),
            ("pygments", true),
            ("unittest.md", false),
            ("app.py", false),
            ("parser.py", false),
            ("test_unittest.py", false),
        ] {
            assert_eq!(shadows_python(name), expected, "{name}");
        }
    }
}

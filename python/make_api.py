#!/usr/bin/env python3
"""Writes smurf/_api.py, the C declarations of the public headers as cffi wants them.

    python/make_api.py HEADER... OUTPUT

The headers are C that cffi's parser understands once the preprocessor's lines and the export macro are gone, so nothing is declared
twice: a function that changes in smurf.h changes here.
"""
import re
import sys

import cffi


def declarations(text):
    """The declarations of a header, without comments, preprocessor lines and C++ guards."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^\s*#ifdef __cplusplus.*?^\s*#endif.*?$", "", text, flags=re.S | re.M)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return re.sub(r"\bSMURF_API\b", "", text)


def main():
    *headers, output = sys.argv[1:]
    ffi = cffi.FFI()
    for path in headers:
        with open(path, encoding="utf-8") as header:
            ffi.cdef(declarations(header.read()))
    ffi.set_source("smurf._api", None)
    ffi.emit_python_code(output)


if __name__ == "__main__":
    main()

"""Compiles the kernels for NVIDIA cards to PTX, which the program carries and the driver translates for its card.

    python -m pip install nvidia-cuda-nvrtc-cu12==12.4.127
    python scripts/compile-kernels.py            # writes models/cuda/kernels/*.ptx
    python scripts/compile-kernels.py --check    # whether they are what the source makes

No card is needed. The compiler is an old one on purpose: a driver refuses PTX that is newer than itself.
"""

import argparse
import ctypes
import importlib.util
import sys
from pathlib import Path

KERNELS = Path(__file__).parent.parent / "models/cuda/kernels"
VERSION = (12, 4)
OPTIONS = [b"--gpu-architecture=compute_80", b"--std=c++17", b"--include-path=" + str(KERNELS).encode()]


def compiler() -> ctypes.CDLL:
    """NVIDIA's run-time compiler, of the one version that makes the PTX."""
    package = importlib.util.find_spec("nvidia.cuda_nvrtc")
    if package is None or not package.submodule_search_locations:
        sys.exit("NVIDIA's compiler is missing: python -m pip install nvidia-cuda-nvrtc-cu12==12.4.127")
    folder = Path(package.submodule_search_locations[0])
    library = next(iter([*folder.glob("lib/libnvrtc.so.*"), *folder.glob("bin/nvrtc64_*.dll")]))
    found = ctypes.CDLL(str(library))
    major, minor = ctypes.c_int(), ctypes.c_int()
    found.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    if (major.value, minor.value) != VERSION:
        sys.exit(f"NVIDIA's compiler is {major.value}.{minor.value}; expected {VERSION[0]}.{VERSION[1]}")
    return found


def text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    """The PTX or the log of a program."""
    size = ctypes.c_size_t()
    getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    room = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtcGet{what}")(program, room)
    return room.value.decode()


def ptx(library: ctypes.CDLL, source: Path) -> str:
    """What a source file compiles to."""
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
    options = (ctypes.c_char_p * len(OPTIONS))(*OPTIONS)
    failed = library.nvrtcCompileProgram(program, len(options), options)
    if failed:
        sys.exit(f"{source}:\n{text(library, program, 'ProgramLog')}")
    return text(library, program, "PTX")


def main() -> None:
    """Writes the PTX of every source file, or compares it with what is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    check = parser.parse_args().check
    library = compiler()
    for source in sorted(KERNELS.glob("*.cu")):
        found, target = ptx(library, source), source.with_suffix(".ptx")
        if not check:
            target.write_text(found)
        elif not target.exists() or target.read_text() != found:
            sys.exit(f"{target} is not what {source.name} makes: python scripts/compile-kernels.py")
        print(f"{target.name}: {len(found)} bytes")


if __name__ == "__main__":
    main()

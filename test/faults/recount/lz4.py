"""Blocks of LZ4: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md"""


def decompress(block: bytes, size: int) -> bytes:
    """What a block holds; it must be exactly so many bytes."""
    out, at, end = bytearray(), 0, len(block)
    try:
        while True:
            token = block[at]
            at += 1
            length = token >> 4
            if length == 15:
                length, at = _rest(block, at)
            if at + length > end:
                raise ValueError("a literal leaves its block")
            out += block[at : at + length]
            at += length
            if at == end:
                break
            offset = block[at] | block[at + 1] << 8
            at += 2
            length = token & 15
            if length == 15:
                length, at = _rest(block, at)
            length += 4
            start = len(out) - offset
            if offset == 0 or start < 0 or len(out) + length > size:
                raise ValueError("a copy leaves its bounds")
            if offset >= length:
                out += out[start : start + length]
            else:  # the copy overlaps what it makes: the last bytes again and again
                out += (out[start:] * (length // offset + 1))[:length]
    except IndexError:
        raise ValueError("a block ends too early") from None
    if len(out) != size:
        raise ValueError(f"a block of {size} bytes has {len(out)}")
    return bytes(out)


def _rest(block: bytes, at: int) -> tuple[int, int]:
    """A length that goes on in bytes of 255 and one below, and where it ends."""
    length = 15
    while block[at] == 255:
        length += 255
        at += 1
    return length + block[at], at + 1

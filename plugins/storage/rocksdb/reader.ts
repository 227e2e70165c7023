/** Reads the fields of RocksDB's files from a buffer. Throws RangeError at the end. */
export class Reader {
  constructor(
    readonly buffer: Buffer,
    public at = 0,
    readonly end = buffer.length,
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** An unsigned number of seven bits a byte, low ones first. Numbers above 2^53 lose precision. */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      if (this.at >= this.end) throw new RangeError('a number is incomplete');
      const byte = this.buffer[this.at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 128) return value;
    }
  }

  /** A part of the buffer, preceded by its length. */
  bytes(length = this.varint()): Buffer {
    if (length > this.end - this.at) throw new RangeError('a field is incomplete');
    return this.buffer.subarray(this.at, (this.at += length));
  }
}

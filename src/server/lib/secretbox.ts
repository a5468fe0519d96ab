/**
 * Opens NaCl's secretbox (XSalsa20 and Poly1305), in which LiteLLM keeps its credentials. For the short texts of an
 * import: written to be read, not to be fast. D. J. Bernstein, "Cryptography in NaCl", "Extending the Salsa20 nonce".
 */
import { timingSafeEqual } from "node:crypto";

const SIGMA = new Uint32Array([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
/** Quarter rounds of a double round: columns, then rows. */
const QUARTERS = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const;

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** The 20 rounds, without the addition of the input. */
function rounds(input: Uint32Array): Uint32Array {
  const x = new Int32Array(input);
  const at = (i: number): number => x[i] ?? 0;
  for (let i = 0; i < 10; i++) {
    for (const [a, b, c, d] of QUARTERS) {
      x[b] = at(b) ^ rotate(at(a) + at(d), 7);
      x[c] = at(c) ^ rotate(at(b) + at(a), 9);
      x[d] = at(d) ^ rotate(at(c) + at(b), 13);
      x[a] = at(a) ^ rotate(at(d) + at(c), 18);
    }
  }
  return new Uint32Array(x);
}

function words(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(i * 4, true));
}

function bytesOf(list: readonly number[]): Uint8Array {
  const out = new DataView(new ArrayBuffer(list.length * 4));
  for (const [i, word] of list.entries()) out.setUint32(i * 4, word, true);
  return new Uint8Array(out.buffer);
}

function state(key: Uint8Array, input: Uint8Array): Uint32Array {
  const [k, n] = [words(key), words(input)];
  const [s0 = 0, s1 = 0, s2 = 0, s3 = 0] = SIGMA;
  return new Uint32Array([s0, ...k.subarray(0, 4), s1, ...n, s2, ...k.subarray(4), s3]);
}

/** HSalsa20: a key of the first 16 bytes of a nonce. */
function subkey(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const x = rounds(state(key, nonce));
  return bytesOf([0, 5, 10, 15, 6, 7, 8, 9].map((i) => x[i] ?? 0));
}

/** The key stream of XSalsa20, `length` bytes. */
function stream(key: Uint8Array, nonce: Uint8Array, length: number): Uint8Array {
  const inner = subkey(key, nonce.subarray(0, 16));
  const out = new Uint8Array(Math.ceil(length / 64) * 64);
  for (let block = 0; block * 64 < length; block++) {
    const counter = bytesOf([block, 0]);
    const input = state(inner, new Uint8Array([...nonce.subarray(16), ...counter]));
    const mixed = rounds(input);
    out.set(bytesOf([...mixed].map((word, i) => (word + (input[i] ?? 0)) >>> 0)), block * 64);
  }
  return out.subarray(0, length);
}

const number = (bytes: Uint8Array): bigint => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

function poly1305(key: Uint8Array, message: Uint8Array): Uint8Array {
  const r = number(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  const prime = (1n << 130n) - 5n;
  let sum = 0n;
  for (let i = 0; i < message.length; i += 16) {
    const part = message.subarray(i, i + 16);
    sum = ((sum + number(part) + (1n << BigInt(8 * part.length))) * r) % prime;
  }
  const tag = (sum + number(key.subarray(16, 32))) & ((1n << 128n) - 1n);
  return Uint8Array.from({ length: 16 }, (_, i) => Number((tag >> BigInt(8 * i)) & 255n));
}

/** `box`: the tag and the cipher text; `key` 32 bytes, `nonce` 24. undefined for another key or a changed text. */
export function openSecretbox(box: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  if (box.length < 16 || nonce.length !== 24 || key.length !== 32) return undefined;
  const [tag, cipher] = [box.subarray(0, 16), box.subarray(16)];
  const pad = stream(key, nonce, 32 + cipher.length);
  if (!timingSafeEqual(poly1305(pad.subarray(0, 32), cipher), tag)) return undefined;
  return cipher.map((byte, i) => byte ^ (pad[32 + i] ?? 0));
}

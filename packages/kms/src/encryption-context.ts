/**
 * The encryption context as bytes to authenticate: the same for the same pairs in any order, and
 * different for any other pairs. It is never part of a blob.
 */
export type EncryptionContext = Readonly<Record<string, string>>

export function canonicalContext(context: EncryptionContext): Buffer {
  const pairs = Object.entries(context)
    .map(([key, value]) => [Buffer.from(key), Buffer.from(value)] as const)
    .toSorted(([a], [b]) => Buffer.compare(a, b))
  return Buffer.concat(
    pairs.flatMap(([key, value]) => [length(key.length), key, length(value.length), value]),
  )
}

function length(bytes: number): Buffer {
  const encoded = Buffer.alloc(4)
  encoded.writeUInt32BE(bytes)
  return encoded
}

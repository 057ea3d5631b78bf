// A data directory with every kind of page and record, and ways to damage it.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStorage, type OpenStorage } from '../../src/storage/open-storage.ts'
import { fixedClock, ORDERS, temporaryDirectory } from './programs/harness.ts'

const PAGE = 8192

/** Two tables with an index, TTL, a stream and a recovery log; backups, a job and a token. */
export async function filledDirectory(): Promise<string> {
  const directory = join(temporaryDirectory(), 'data')
  const storage = openStorage({ directory, clock: fixedClock(), sweepIntervalMs: 0 })
  const logs = [
    { kind: 'recovery', view: 'OLD_IMAGE', keepMs: 1e9 },
    { kind: 'stream', view: 'NEW_AND_OLD_IMAGES', keepMs: 1e9 },
  ] as const
  const orders = await storage.createTable({
    ...ORDERS,
    ttl: { attribute: 'expires' },
    logs: [...logs],
  })
  for (let batch = 0; batch < 5; batch++) {
    await storage.write((tx) => {
      for (let i = 0; i < 100; i++) {
        const order = `${batch}-${i}`
        const item = { customer: 'ada', order, status: 'new', total: i, expires: 4e9 }
        tx.put(orders, { ...item, text: 'x'.repeat(300) }, undefined)
      }
    })
  }
  const large = { customer: 'bob', order: '1', text: 'y'.repeat(30_000) }
  await storage.overwrite(orders, large)
  await storage.overwrite(orders, { ...large, text: 'z'.repeat(30_000) })
  await storage.write((tx) => tx.rememberToken('token', 'hash', 5e12))
  await storage.backups.create('kept', orders)
  await storage.settled()
  await storage.close()
  return directory
}

/** Changes records of the closed directory through LMDB, as damage that pages do not show. */
export async function damageRecords(
  directory: string,
  damage: (storage: OpenStorage) => void,
): Promise<void> {
  const storage = openStorage({ directory, clock: fixedClock(), sweepIntervalMs: 0 })
  storage.environment.root.transactionSync(() => damage(storage))
  await storage.close()
}

export interface FoundPage {
  number: number
  /** Where it begins. */
  at: number
  kind: 'branch' | 'leaf' | 'overflow'
}

/** The data file as bytes, with the pages that its last commit uses. */
export class DataBytes {
  readonly bytes: Buffer
  readonly #file: string

  constructor(directory: string) {
    this.#file = join(directory, 'data.mdb')
    this.bytes = readFileSync(this.#file)
  }

  save(bytes: Uint8Array = this.bytes): void {
    writeFileSync(this.#file, bytes)
  }

  /** Where the header of the last commit begins. */
  get meta(): number {
    const transaction = (page: number) => this.bytes.readBigUInt64LE(page * PAGE + 24 + 128)
    return (transaction(1) > transaction(0) ? PAGE : 0) + 24
  }

  /** The pages of the free list, or of all other trees. */
  pages(tree: 'free' | 'main'): FoundPage[] {
    return [...this.#below(this.bytes.readBigUInt64LE(this.meta + (tree === 'free' ? 64 : 112)))]
  }

  *#below(root: bigint): Iterable<FoundPage> {
    if (root === 2n ** 64n - 1n) return
    const at = Number(root) * PAGE
    const isBranch = this.bytes.readUInt16LE(at + 18) === 1
    yield { number: Number(root), at, kind: isBranch ? 'branch' : 'leaf' }
    for (let i = 0; i < this.bytes.readUInt16LE(at + 20) / 2; i++) {
      const node = at + 24 + this.bytes.readUInt16LE(at + 24 + 2 * i)
      if (isBranch) yield* this.#below(BigInt(this.bytes.readUIntLE(node, 6)))
      else yield* this.#ofLeafNode(node)
    }
  }

  *#ofLeafNode(node: number): Iterable<FoundPage> {
    const flags = this.bytes.readUInt16LE(node + 4)
    const data = node + 8 + this.bytes.readUInt16LE(node + 6)
    if (flags === 2) yield* this.#below(this.bytes.readBigUInt64LE(data + 40))
    if (flags !== 1) return
    const number = Number(this.bytes.readBigUInt64LE(data))
    yield { number, at: number * PAGE, kind: 'overflow' }
  }
}

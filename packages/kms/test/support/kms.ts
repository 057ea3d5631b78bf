import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { AuditEvent } from '../../src/audit.ts'
import { createKms, type KmsOptions } from '../../src/kms.ts'
import { memoryKeyStorage } from '../../src/testing/memory-key-storage.ts'

const DAY = 24 * 60 * 60 * 1000

function testClock() {
  let now = Date.parse('2100-01-01T00:00:00.000Z')
  return {
    now: () => now,
    advance({ days = 0, minutes = 0, ms = 0 }) {
      now += days * DAY + minutes * 60_000 + ms
    },
  }
}

/** A KMS with one key, and all that a test may want to look at. */
export async function freshKms(options: Partial<KmsOptions> = {}) {
  const clock = testClock()
  const storage = memoryKeyStorage()
  const masterKey = Uint8Array.from(randomBytes(32))
  const events: AuditEvent[] = []
  const audit = (event: AuditEvent) => {
    events.push(event)
  }
  const all = { masterKey, storage, clock, audit, ...options }
  const kms = await createKms(all)
  const { KeyMetadata } = await kms.createKey({ Description: 'for tests' })
  return { kms, clock, storage, masterKey, events, arn: KeyMetadata.Arn, id: KeyMetadata.KeyId }
}

export type FreshKms = Awaited<ReturnType<typeof freshKms>>

/** The name of the error that a call must end with. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'no error',
    (error: Error) => error.name,
  )
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

export const bytes = (content: string) => Uint8Array.from(Buffer.from(content))

/** A directory of this test alone. */
export function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-kms-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

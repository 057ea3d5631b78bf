/**
 * Audit records: caller, operation, key, context and outcome of each call, but never plaintext, key
 * material or blobs. Contexts are recorded in the clear, so they must not contain secrets.
 */
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fstatSync, readSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname } from 'node:path'
import { diskAdvice } from '@strongroom/platform/disk-failure'
import { makeDirectory, syncDirectory } from '@strongroom/platform/durable-directory'
import { openPrivateLog } from '@strongroom/platform/private-file'
import { KmsError } from './errors.ts'
import type { AuditFields } from './operations/operation.ts'

export interface AuditEvent extends Readonly<AuditFields> {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly operation: string
  readonly caller: string
  /** `Success`, or the name of the error. */
  readonly outcome: string
}

/** Throws if the record cannot be written; the call then fails and returns nothing. */
export type Audit = (event: AuditEvent) => void

// The audit file has one line of JSON per record. Each contains the hash of the previous line, so removed
// or altered lines are detected (`audit-verify.ts`).
// A record is passed to the operating system before the call returns, so it survives a crash of the
// process. It is not flushed each time, which would make calls many times slower: a power failure may
// lose the last seconds.
// Several processes may write to one file. Each writer numbers its own records, because two concurrent
// writers may follow the same line, and then no line follows one of them.

/** The previous hash of the first line. */
export const NO_HASH = '0'.repeat(64)
const HASH_MEMBER = /,"hash":"([0-9a-f]{64})"\}$/
const LINE_FEED = 0x0a
const TAIL_BYTES = 4096

export interface AuditFile {
  readonly audit: Audit
  close(): void
}

export interface AuditRecord {
  writer: string
  seq: number
  previous: string
}

/** Appends to a file; may throw, or write only a part and return its length. */
export type Append = (fd: number, bytes: Buffer) => number

/** Opens the file, or creates it and its directory, readable by their owner only. */
export function openAuditFile(path: string, append: Append = writeSync): AuditFile {
  const writer = randomBytes(8).toString('hex')
  let fd = withDiskAdvice(path, () => openPrivate(path))
  let seq = 0
  /** The file after the last write; a different size means that others wrote, or that it was not read yet. */
  let end = -1
  let previous = NO_HASH
  let torn = false

  const catchUp = () => {
    if (fstatSync(fd).nlink === 0) {
      // The file was removed, so the first line of the new file follows a missing record.
      const next = withDiskAdvice(path, () => openPrivate(path))
      closeSync(fd)
      fd = next
      end = -1
    }
    const { size } = fstatSync(fd)
    if (size === end) return
    const tail = readTail(fd, size)
    previous = tail.hash ?? previous
    torn = tail.torn
    end = size
  }

  return {
    audit(event) {
      catchUp()
      const { line, hash } = recordLine({ writer, seq: seq + 1, previous }, event)
      const bytes = Buffer.from(torn ? `\n${line}` : line)
      if (withDiskAdvice(path, () => append(fd, bytes)) !== bytes.length) {
        end = -1
        throw auditCutShort(path)
      }
      seq += 1
      end += bytes.length
      previous = hash
      torn = false
    },
    close() {
      closeSync(fd)
    },
  }
}

/** The record in a line, or undefined if the line is not what was written. */
export function readRecord(line: string): (AuditRecord & { hash: string }) | undefined {
  const hash = HASH_MEMBER.exec(line)?.[1]
  if (hash === undefined || hashOf(line.replace(HASH_MEMBER, '}')) !== hash) return undefined
  try {
    const { writer, seq, previous } = JSON.parse(line) as AuditRecord
    return { writer, seq, previous, hash }
  } catch {
    return undefined
  }
}

function recordLine(record: AuditRecord, { time, ...event }: AuditEvent) {
  const content = JSON.stringify({ ...record, time: new Date(time).toISOString(), ...event })
  const hash = hashOf(content)
  return { line: `${content.slice(0, -1)},"hash":"${hash}"}\n`, hash }
}

function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

function openPrivate(path: string): number {
  makeDirectory(dirname(path))
  const descriptor = openPrivateLog(path)
  syncDirectory(dirname(path))
  return descriptor
}

/** The hash of the last whole record, and whether something unfinished follows it. */
function readTail(fd: number, size: number): { hash: string | undefined; torn: boolean } {
  for (let length = Math.min(size, TAIL_BYTES); ; length = Math.min(size, length * 8)) {
    const tail = Buffer.alloc(length)
    readSync(fd, tail, 0, length, size - length)
    const torn = length > 0 && tail.at(-1) !== LINE_FEED
    const lines = tail.toString().split('\n')
    if (length < size) lines.shift()
    const last = lines.map(readRecord).findLast((record) => record !== undefined)
    if (last || length === size) return { hash: last?.hash, torn }
  }
}

// Errors of writing the audit file: the cause, and what to do.

/** Runs a disk operation and adds advice to a failure of the system. */
export function withDiskAdvice<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw auditFailed(path, error)
  }
}

/** Errors without a system code are defects and stay unchanged. */
function auditFailed(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'errno' in error && typeof error.errno === 'number')) return error
  // Node negates the system's error numbers.
  return cannotWrite(path, diskAdvice(dirname(path), -error.errno) ?? error.message, error)
}

/** Only a part of the record was written, without an error of the system. */
export function auditCutShort(path: string): KmsError {
  return cannotWrite(path, diskAdvice(dirname(path), constants.errno.EIO) ?? 'it was cut short')
}

/** Named so that callers may retry. */
function cannotWrite(path: string, reason: string, cause?: unknown): KmsError {
  const message = `Cannot write the audit log "${path}": ${reason}. The KMS answers no call that it cannot record`
  return new KmsError('KMSInternalException', message, 500, { cause })
}

/**
 * Verifies an audit file. The chain of hashes cannot reveal that the end was removed: to detect that,
 * store `last` elsewhere and compare it later.
 */
import { createReadStream } from 'node:fs'
import { type AuditRecord, NO_HASH, readRecord } from './audit.ts'

export interface AuditProblem {
  /** Counts from 1. */
  line: number
  /**
   * `torn`: a crash or a full disk truncated this line. `altered`: the line was changed. `missing`: the
   * line that this one follows is missing or was changed, or this line was moved.
   */
  kind: 'torn' | 'altered' | 'missing'
  message: string
}

export interface AuditVerification {
  records: number
  /** The hash of the last record. */
  last: string
  findings: AuditProblem[]
}

/** With concurrent writers, a line may follow one that is a few lines up, but not further. */
const REACH = 1000

export async function verifyAudit(path: string): Promise<AuditVerification> {
  const result: AuditVerification = { records: 0, last: NO_HASH, findings: [] }
  const recent: string[] = [NO_HASH]
  const written = new Map<string, number>()
  let number = 0

  for await (const line of linesOf(path)) {
    number += 1
    // A writer that sees an incomplete line, possibly still being written, starts a new line.
    if (line === '') continue
    const record = readRecord(line)
    if (!record) {
      result.findings.push(unreadable(line, number))
      continue
    }
    if (!follows(record, recent, written)) {
      result.findings.push({
        line: number,
        kind: 'missing',
        message: 'A record before this line was removed or altered, or the line was moved here',
      })
    }
    written.set(record.writer, record.seq)
    recent.push(record.hash)
    if (recent.length > REACH) recent.shift()
    result.records += 1
    result.last = record.hash
  }
  return result
}

function follows(record: AuditRecord, recent: string[], written: Map<string, number>): boolean {
  const inOrder = record.seq === (written.get(record.writer) ?? 0) + 1
  return inOrder && recent.includes(record.previous)
}

/** Splits at line feeds only, because contexts may contain other line terminators. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

/** A truncated line is incomplete JSON; other invalid lines were not written by the KMS. */
function unreadable(line: string, number: number): AuditProblem {
  return isJson(line)
    ? { line: number, kind: 'altered', message: 'This line is not what was written' }
    : { line: number, kind: 'torn', message: 'This line was cut short by a crash or a full disk' }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Reports failures to people and programs, and chooses the exit code. */
import { DynamoError } from '@strongroom/engine/errors'
import { DataError } from '@strongroom/engine/storage/lmdb/failures'
import { AccessDenied } from '@strongroom/kit/access-denied'
import { ApiError, Failure } from '@strongroom/kit/errors'
import { KmsError } from '@strongroom/kms/errors'
import { MasterKeyError } from '@strongroom/kms/master-key/errors'
import { RequestFailed } from '@strongroom/sealed/client/errors'
import { SealedError } from '@strongroom/sealed/crypto/errors'
import type { Terminal } from './run.ts'

const FAILED = 1
const INVALID_USAGE = 2
const NOT_AVAILABLE = 3
const WRONG_PASSPHRASE = 4

const EXIT_CODES: Readonly<Record<string, number>> = {
  usage: INVALID_USAGE,
  no_passphrase: WRONG_PASSPHRASE,
  wrong_passphrase: WRONG_PASSPHRASE,
  no_receipt: NOT_AVAILABLE,
  not_available: NOT_AVAILABLE,
  not_filled: NOT_AVAILABLE,
  request_used: NOT_AVAILABLE,
  request_expired: NOT_AVAILABLE,
}

/** Prints the failure and returns the exit code. */
export function reportFailure(
  error: unknown,
  argv: readonly string[],
  terminal: Pick<Terminal, 'out' | 'error'>,
): number {
  if (argv.includes('--json')) {
    const message = isExpected(error) ? error.message : 'This is a defect in strongroom'
    terminal.out(`${JSON.stringify({ error: { code: codeOf(error), message } })}\n`)
  }
  terminal.error(`${explain(error)}\n`)
  return exitCodeOf(error)
}

function codeOf(error: unknown): string {
  const { code } = isExpected(error) ? (error as { code?: unknown }) : {}
  return typeof code === 'string' ? code : 'failed'
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof SealedError) {
    return error.code === 'cannot_open' ? FAILED : INVALID_USAGE
  }
  if (!(error instanceof RequestFailed || error instanceof Failure)) return FAILED
  return EXIT_CODES[error.code] ?? FAILED
}

/** One line for a failure that a person can fix. Anything else is a defect and shows its stack. */
export function explain(error: unknown): string {
  if (isExpected(error)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function isExpected(error: unknown): error is Error {
  const expected = [
    AccessDenied,
    ApiError,
    Failure,
    DataError,
    KmsError,
    MasterKeyError,
    SealedError,
    RequestFailed,
  ]
  if (error instanceof DynamoError) return error.isDiskFailure === true
  return expected.some((kind) => error instanceof kind)
}

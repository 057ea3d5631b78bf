/** What went wrong, in the words and with the exit code that a person or a script wants. */
import { CommitFailed, DataError } from '@strongroom/engine/storage/failures'
import { ConfigError } from '@strongroom/kit/config'
import { ApiError } from '@strongroom/kit/errors'
import { SecretUnreadable } from '@strongroom/kit/secret-versions'
import { KmsError } from '@strongroom/kms/errors'
import { MasterKeyError } from '@strongroom/kms/master-key-errors'
import { KmsUnavailable } from '@strongroom/server/kms'
import { CannotListen } from '@strongroom/server/listen'
import { StoreUnavailable } from '@strongroom/server/store'
import { RequestFailed } from '@strongroom/sealed/client/errors'
import { SealedError } from '@strongroom/sealed/crypto/errors'
import { NoReceipt } from './commands/receipt.ts'
import { UsageError } from './command.ts'
import { CannotSign } from './form-bridge/plugin-signing.ts'
import { NoPassphrase } from './sealed/passphrase.ts'
import { CannotWrite } from './sealed/write-out.ts'
import type { Terminal } from './run.ts'
import { ServerUnusable } from './service-api.ts'

const FAILED = 1
const WRONG_USAGE = 2
const NOT_AVAILABLE = 3
const WRONG_PASSPHRASE = 4

/** Tells what went wrong, programs too, and returns the exit code. */
export function tellFailure(
  error: unknown,
  argv: readonly string[],
  terminal: Pick<Terminal, 'out' | 'error'>,
): number {
  if (argv.includes('--json')) {
    const message = isExpected(error) ? error.message : 'This is a defect of strongroom'
    terminal.out(`${JSON.stringify({ error: { code: codeOf(error), message } })}\n`)
  }
  terminal.error(`${explain(error)}\n`)
  return exitCodeOf(error)
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return 'usage'
  const { code } = isExpected(error) ? (error as { code?: unknown }) : {}
  return typeof code === 'string' ? code : 'failed'
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return WRONG_USAGE
  if (error instanceof NoPassphrase) return WRONG_PASSPHRASE
  if (error instanceof SealedError) {
    return error.code === 'cannot_open' ? FAILED : WRONG_USAGE
  }
  if (error instanceof NoReceipt) return NOT_AVAILABLE
  if (!(error instanceof RequestFailed)) return FAILED
  if (error.code === 'wrong_passphrase') return WRONG_PASSPHRASE
  return error.code === 'not_available' ? NOT_AVAILABLE : FAILED
}

/** One line for what a person can mend; anything else is a defect and shows where it happened. */
export function explain(error: unknown): string {
  if (isExpected(error)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function isExpected(error: unknown): error is Error {
  const expected = [
    UsageError,
    ConfigError,
    ApiError,
    CannotListen,
    DataError,
    CommitFailed,
    StoreUnavailable,
    KmsUnavailable,
    KmsError,
    MasterKeyError,
    SecretUnreadable,
    ServerUnusable,
    SealedError,
    RequestFailed,
    CannotSign,
    CannotWrite,
    NoPassphrase,
    NoReceipt,
  ]
  return expected.some((kind) => error instanceof kind)
}

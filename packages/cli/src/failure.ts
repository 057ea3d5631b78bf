/** What went wrong, in the words and with the exit code that a person or a script wants. */
import { DataError } from '@strongroom/engine/storage/failures'
import { ConfigError } from '@strongroom/kit/config'
import { ApiError } from '@strongroom/kit/errors'
import { SecretUnreadable } from '@strongroom/kit/secret-versions'
import { KmsError } from '@strongroom/kms/errors'
import { MasterKeyError } from '@strongroom/kms/master-key-errors'
import { KmsUnavailable } from '@strongroom/server/kms'
import { CannotListen } from '@strongroom/server/listen'
import { StoreUnavailable } from '@strongroom/server/store'
import { UsageError } from './command.ts'
import { ServerUnusable } from './commands/keys-remote.ts'

const FAILED = 1
const WRONG_USAGE = 2

export function exitCodeOf(error: unknown): number {
  return error instanceof UsageError ? WRONG_USAGE : FAILED
}

/** One line for what a person can mend; anything else is a defect and shows where it happened. */
export function explain(error: unknown): string {
  const expected = [
    UsageError,
    ConfigError,
    ApiError,
    CannotListen,
    DataError,
    StoreUnavailable,
    KmsUnavailable,
    KmsError,
    MasterKeyError,
    SecretUnreadable,
    ServerUnusable,
  ]
  if (expected.some((kind) => error instanceof kind)) return (error as Error).message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

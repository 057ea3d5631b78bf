import { readFileSync } from 'node:fs'
import { UsageError } from './command.ts'

/** What stands on the file descriptor that an option names. */
export function readDescriptor(option: string, given: string): string {
  if (!/^\d{1,4}$/.test(given)) {
    throw new UsageError(`--${option} must be the number of an open file descriptor, such as 3`)
  }
  try {
    return readFileSync(Number(given), 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new UsageError(
      `Cannot read the descriptor of --${option} (${reason}): open it, as with ${given}<file`,
    )
  }
}

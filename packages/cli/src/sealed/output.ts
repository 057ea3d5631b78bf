/** Standard output and progress of Sealed's commands. */
import { Failure } from '@strongroom/kit/errors'
import type { WorkProgress } from '@strongroom/sealed/crypto/proof-of-work'
import { escapeControls } from '../output.ts'

/**
 * Resolves once it is written, because the caller then gives up its claim to the secret. `savedPath`
 * is where the secret is already.
 */
export async function writeOut(content: string | Uint8Array, savedPath?: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(content, (error) => {
      if (error) reject(writeFailure(error, savedPath))
      else resolve()
    })
  })
}

function writeFailure(cause: Error, savedPath: string | undefined): Failure {
  const reason = 'code' in cause ? String(cause.code) : cause.name
  const message =
    savedPath === undefined
      ? `Cannot write the secret to standard output (${reason}): this view is lost`
      : `Cannot write to standard output (${reason}): the secret was saved to ${escapeControls(savedPath)}`
  return new Failure('failed', message, { cause })
}

/** `2100-01-01 00:00 UTC` */
export function formatUntil(epochSeconds: number): string {
  return `${new Date(epochSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Shows the progress of the proof of work, on a terminal only. */
export function workProgress(
  screen: { isTTY?: boolean; write(text: string): unknown } | undefined,
): {
  show(progress: WorkProgress): void
  clear(): void
} {
  if (screen?.isTTY !== true) return { show() {}, clear() {} }
  let shown = ''
  return {
    show({ tries, expected }) {
      // The probability of being done by now, because each attempt is independent.
      const percent = Math.floor(100 * (1 - Math.exp(-tries / expected)))
      const line = `Proof of work: ${percent} %`
      if (line !== shown) screen.write(`\r${line}`)
      shown = line
    },
    clear() {
      if (shown !== '') screen.write('\r\u001B[K')
    },
  }
}

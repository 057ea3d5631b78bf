import type { WorkProgress } from '@strongroom/sealed/crypto/proof-of-work'

/** Shows on a terminal how far the proof of work is, and nothing anywhere else. */
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
      // How likely it is to be done by now: it is luck, and never quite certain.
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

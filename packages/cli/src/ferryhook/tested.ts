/** How a destination answered the test that was sent to it. */
import type { Output } from '../command.ts'

export interface Tested {
  ok: boolean
  reason: string
  /** 0 if there was no answer. */
  statusCode: number
  latencyMs: number
}

/** Returns the exit code. */
export function tellTested(output: Output, tested: Tested): number {
  const { ok, reason, statusCode, latencyMs } = tested
  const answer = statusCode === 0 ? 'no answer' : `answered ${statusCode}`
  const outcome = ok ? 'Delivered: ' : `Not delivered: ${reason}, `
  output.result(`${outcome}${answer} after ${latencyMs} ms\n`, tested)
  return ok ? 0 : 1
}

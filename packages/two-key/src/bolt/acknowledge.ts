import type { Rejected } from '../decision.ts'
import type { BoltArgs, OnRejected } from './bolt-types.ts'

const TRY_AGAIN = {
  response_type: 'ephemeral',
  text: 'This could not be verified just now. Try again in a moment.',
}

/**
 * Slack gets its answer at once, whatever was decided, and whoever typed a command learns that
 * trying again helps. Bolt lets a request be acknowledged only once.
 */
export async function acknowledge(
  rejected: Rejected,
  args: BoltArgs,
  onRejected: OnRejected | undefined,
): Promise<void> {
  const ack = args.ack as (response?: object) => Promise<void>
  let isDone = false
  const once = async (response?: object) => {
    if (isDone) return
    isDone = true
    await (response === undefined ? ack() : ack(response))
  }
  try {
    await onRejected?.(rejected, { ...args, ack: once })
  } finally {
    const mayTryAgain = rejected.retryable && 'command' in args.body
    await once(mayTryAgain ? TRY_AGAIN : undefined)
  }
}

/** A transaction that is repeated from a fresh read when somebody else was faster. */
import { TransactionFailed } from '@strongroom/kit/db-errors'

/** Each failure means that another one got through, so this many only meet by a defect. */
const attempts = 200

/**
 * Runs `attempt`, which reads and then writes on the condition of what it read. `decide` looks at a
 * failure first: it throws if the caller is refused, and gives the result if reading again would
 * change nothing.
 */
export async function optimistically<T>(
  attempt: () => Promise<T>,
  decide: (failure: TransactionFailed) => { result: T } | undefined = () => undefined,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof TransactionFailed)) throw error
      const decided = decide(error)
      if (decided) return decided.result
      const overtaken = error.reasons.some((_, part) => error.conditionFailed(part))
      if (!overtaken || tried >= attempts) throw error
    }
  }
}

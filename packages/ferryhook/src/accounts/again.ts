/** What reads, decides and writes on the condition of what it read begins anew when overtaken. */
import { type RefusalReason, Refused } from '../db/refused.ts'

/** Each time means that another change got through: so many only meet by a defect. */
const ATTEMPTS = 20

export async function again<T>(reason: RefusalReason, attempt: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      const overtaken = error instanceof Refused && error.reason === reason
      if (!overtaken || tried === ATTEMPTS) throw error
    }
  }
}

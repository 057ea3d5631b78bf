import { ConditionFailed } from '@strongroom/kit/db-errors'

/** Whether a conditional write happened. */
export async function written(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    throw error
  }
}

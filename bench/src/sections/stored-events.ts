import type { Result } from '../result.ts'
export async function storedEventsSection(): Promise<Result> {
  return { title: '', figures: [], targets: [], notes: [] }
}

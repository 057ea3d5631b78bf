/**
 * Records which functions of the source files run, by V8's precise coverage. It needs no hooks in the
 * code under test, so what it records is what the product really calls.
 */
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

export interface ReachedFunctions {
  /** Names of the functions of a file that ran since the start; undefined if it was not loaded. */
  of(path: string): ReadonlySet<string> | undefined
}

export interface FunctionRecorder {
  stop(): Promise<ReachedFunctions>
}

export async function recordFunctions(): Promise<FunctionRecorder> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    async stop() {
      const { result } = await session.post('Profiler.takePreciseCoverage')
      await session.post('Profiler.stopPreciseCoverage')
      session.disconnect()
      const files = new Map<string, Set<string>>()
      for (const { url, functions } of result) {
        const path = url.startsWith('file:') ? fileURLToPath(url) : url
        const names = files.get(path) ?? new Set()
        for (const { functionName, ranges } of functions) {
          if ((ranges[0]?.count ?? 0) > 0) names.add(functionName)
        }
        files.set(path, names)
      }
      return { of: (path) => files.get(path) }
    },
  }
}

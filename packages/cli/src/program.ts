/** The whole program as a function: `main.ts` runs it, from modules or from the compiled program. */
import { writeResult } from './output.ts'
import { commands, run } from './run.ts'

/** Returns the exit code. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  // The SDK warns about Node versions that its next release drops, which users cannot act on.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const terminal = {
    env: process.env,
    // A terminal that does not know its width reports 0.
    width: process.stdout.columns || undefined,
    out: writeResult,
    error: (text: string) => void process.stderr.write(text),
  }
  try {
    return await run(argv, commands, terminal)
  } catch (error) {
    // Loaded only on failure, because it imports the errors of every package.
    const { reportFailure } = await import('./failure.ts')
    return reportFailure(error, argv, terminal)
  }
}

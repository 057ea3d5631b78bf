import { commands, run } from './run.ts'
import { writeResult } from './output.ts'

// The SDK warns about Node versions that its next release drops, which users cannot act on.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'

const argv = process.argv.slice(2)
const terminal = {
  env: process.env,
  // A terminal that does not know its width reports 0.
  width: process.stdout.columns || undefined,
  out: writeResult,
  error: (text: string) => void process.stderr.write(text),
}

try {
  process.exitCode = await run(argv, commands, terminal)
} catch (error) {
  // Loaded only on failure, because it imports the errors of every package.
  const { reportFailure } = await import('./failure.ts')
  process.exitCode = reportFailure(error, argv, terminal)
}

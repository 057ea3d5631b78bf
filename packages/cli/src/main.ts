import { commands } from './commands.ts'
import { run } from './run.ts'
import { writeResult } from './standard-output.ts'

// Which Node a later SDK needs is for whoever updates it, not for whoever runs this one.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'

const argv = process.argv.slice(2)
const terminal = {
  env: process.env,
  // 0 is what a terminal says that does not know.
  width: process.stdout.columns || undefined,
  out: writeResult,
  error: (text: string) => void process.stderr.write(text),
}

try {
  process.exitCode = await run(argv, commands, terminal)
} catch (error) {
  // It knows the mistakes of everything there is, which is much to load for what goes well.
  const { tellFailure } = await import('./failure.ts')
  process.exitCode = tellFailure(error, argv, terminal)
}

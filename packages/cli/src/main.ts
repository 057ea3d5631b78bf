import { commands } from './commands.ts'
import { run } from './run.ts'

// Which Node a later SDK needs is for whoever updates it, not for whoever runs this one.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'

try {
  process.exitCode = await run(process.argv.slice(2), commands, {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
  })
} catch (error) {
  // It knows the mistakes of everything there is, which is much to load for what goes well.
  const { exitCodeOf, explain } = await import('./failure.ts')
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = exitCodeOf(error)
}

// Runs npm. `npm run` sets the path of npm; otherwise it is looked up in PATH.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MAX_RUN_MS = 10 * 60_000
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/**
 * Resolves with what npm printed; rejects with its errors.
 * @param {string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 */
export async function npm(args, { cwd, env = process.env }) {
  const path = env.npm_execpath
  const [file, first] = path?.endsWith('npm-cli.js') ? [process.execPath, [path]] : ['npm', []]
  const { stdout } = await run(file, [...first, ...args], {
    cwd,
    // Otherwise npm sometimes waits for the registry.
    env: { ...env, npm_config_update_notifier: 'false' },
    timeout: MAX_RUN_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
    shell: file === 'npm' && process.platform === 'win32',
  })
  return stdout
}

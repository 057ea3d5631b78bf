import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { threadBundles } from '../../../../scripts/thread-bundle.mjs'

/** Runs a script and hashes a password, then exits by itself although threads still exist. */
const program = `
  import { createPasswordHasher } from './src/accounts/sessions/password-hasher.ts'
  import { createSandbox } from './src/sandbox/sandbox.ts'
  const code = 'const transform = () => [1]'
  const { result: script } = await createSandbox().run({ owner: 'a', code })
  const result = await createPasswordHasher({ cost: 4 }).hash('a')
  console.log(script.outcome.type, result.hash.length)
`

test('threads need no files beside the bundle, and do not keep the process alive', async () => {
  const outdir = await mkdtemp(join(tmpdir(), 'ferryhook-bundle-'))
  await build({
    stdin: { contents: program, resolveDir: join(import.meta.dirname, '../..') },
    outfile: join(outdir, 'program.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    plugins: [threadBundles()],
  })
  const { stdout } = await promisify(execFile)('node', ['program.mjs'], { cwd: outdir })
  expect(stdout).toBe('checked 60\n')
  await rm(outdir, { recursive: true })
})

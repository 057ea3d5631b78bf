import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { threadBundles } from '../../../../scripts/thread-bundle.mjs'

/** Runs a script and hashes a password, then ends by itself although threads are still there. */
const program = `
  import { createPasswords } from './src/sandbox/passwords.ts'
  import { createSandbox } from './src/sandbox/sandbox.ts'
  const code = 'const transform = () => [1]'
  const { outcome } = await createSandbox().run({ owner: 'a', code })
  const hash = await createPasswords({ cost: 4 }).hash('a')
  console.log(outcome.type, hash.length)
`

test('threads need no files beside the bundle, and do not keep the process', async () => {
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

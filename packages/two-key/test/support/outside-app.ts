/** An app outside this repository, with the built library in its node_modules. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { compileDeclarations } from '../../../../scripts/packages/declarations.mjs'
import { libraries } from '../../../../scripts/packages/descriptions.mjs'
import { writeLibrary } from '../../../../scripts/packages/write-packages.mjs'

export const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** Redirects calls to Slack to the fake Slack, and prints the port of the app. */
export const PRELOAD = `
import http from 'node:http'
import https from 'node:https'
import { Server } from 'node:net'
// Bolt 3 and 4 call Slack with axios.
https.request = (options, ...rest) => {
  const { hostname, port, pathname } = new URL(options.path.replace('/api/', ''), process.env.FAKE_SLACK)
  const redirected = { protocol: 'http:', hostname, host: hostname, port, path: pathname, agent: undefined }
  return http.request({ ...options, ...redirected }, ...rest)
}
const { fetch } = globalThis
globalThis.fetch = (url, init) =>
  fetch(String(url).replace('https://slack.com/api/', process.env.FAKE_SLACK), init)
const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log('PORT ' + this.address().port))
  return listen.apply(this, args)
}
`

export async function outsideApp(files: Record<string, string>, options: { types: boolean }) {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-app-'))
  const modules = join(directory, 'node_modules')
  const packages = ['@slack/bolt', 'zod', 'undici', 'hono', '@aws-sdk', '@types']
  for (const name of packages) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(root, 'node_modules', name), join(modules, name))
  }
  await writeTwoKey(join(modules, '@strongroom/two-key'), options)
  for (const [name, text] of Object.entries({ 'preload.mjs': PRELOAD, ...files })) {
    await writeFile(join(directory, name), text)
  }
  return directory
}

async function writeTwoKey(directory: string, { types }: { types: boolean }) {
  const library = libraries.find((each) => each.directory === 'two-key')
  if (!library) throw new Error('Two-key is not among the published packages')
  await writeLibrary(library, directory)
  if (!types) return
  const declarations = await compileDeclarations([library])
  await declarations.write(library, directory)
  await declarations.remove()
}

/** Runs a program of the app; resolves with its first line that matches, or fails with its errors. */
export async function runUntil(
  directory: string,
  args: readonly string[],
  pattern: RegExp,
  env: Record<string, string> = {},
): Promise<string> {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, args, { cwd: directory, env: { PATH, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk.toString()
      const [, found] = pattern.exec(printed) ?? []
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`It ended with ${code}: ${printed}`)))
  })
}

/** Short commands are short because they load little: this test is what keeps them so. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const DIST = fileURLToPath(new URL('../../../dist/', import.meta.url))

/** Of Hono, only the functions for addresses, which settings use. */
const HEAVY =
  /node_modules\/(?:zod|@hono|hono\/(?!dist\/utils\/ipaddr)|lmdb|undici|prom-client|@aws-sdk|@smithy)|packages\/engine\/src\/engine\.ts/

const server = createServer((_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end('{"items":[],"cursor":null}')
})

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => server.close())

/** The sources of all modules that a command loads, found by V8's coverage and the source maps. */
async function loadedModules(...argv: string[]): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'loaded-modules-'))
  try {
    const { port } = server.address() as AddressInfo
    const env = {
      PATH: process.env.PATH,
      NODE_V8_COVERAGE: directory,
      // The compiled program has no source map, so a server loads its modules.
      NODE_OPTIONS: '--enable-source-maps',
      STRONGROOM_SERVER: `http://127.0.0.1:${port}`,
      STRONGROOM_TOKEN: 'a-token',
      FERRYHOOK_API_KEY: 'a-key',
    }
    await new Promise((resolve) => {
      const child = execFile(process.execPath, [join(DIST, 'strongroom.js'), ...argv], { env })
      child.once('close', resolve)
    })
    const sources: string[] = []
    for (const name of await readdir(directory)) {
      const { result } = JSON.parse(await readFile(join(directory, name), 'utf8')) as {
        result: { url: string }[]
      }
      for (const { url } of result) {
        if (!url.startsWith('file:')) continue
        const map = JSON.parse(await readFile(`${fileURLToPath(url)}.map`, 'utf8')) as {
          sources: string[]
        }
        sources.push(...map.sources)
      }
    }
    return sources
  } finally {
    await rm(directory, { recursive: true })
  }
}

describe('a command that only calls a server', () => {
  it.each([
    ['sources', 'list'],
    ['events', 'list'],
    ['connections', 'list'],
    ['alerts', 'show'],
    ['sites', 'list'],
    ['status'],
    ['burn', 'https://example.com/sealed/#x'],
    ['open', 'https://example.com/sealed/#x'],
    ['seal', '--help'],
  ])('loads no schemas, no HTTP framework, no store and no SDK: %s %s', async (...argv) => {
    const modules = await loadedModules(...argv)
    expect(modules.some((source) => source.endsWith(`commands/${argv[0]}.ts`))).toBe(true)
    expect(modules.filter((source) => HEAVY.test(source))).toEqual([])
  })
})

describe('the server', () => {
  it('loads no SDK and no client for outgoing requests before it needs one', async () => {
    const modules = await loadedModules('serve', '--help')
    expect(modules.some((source) => source.endsWith('server/src/serve.ts'))).toBe(true)
    expect(
      modules.filter((source) => /node_modules\/(?:undici|@aws-sdk|nodemailer)\//.test(source)),
    ).toEqual([])
  })
})

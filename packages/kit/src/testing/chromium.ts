/**
 * A Chromium for the tests of pages: the one that CHROMIUM_PATH names, an installed one, or on
 * Linux the one that comes as an npm package. With REQUIRE_BROWSER=1 (set in CI) its absence is a
 * failure.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { type Browser, chromium } from 'playwright-core'

const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** No sandbox, because tests may run as root; and nothing that asks the network by itself. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A name that is not this machine's own, so that browsers do not take it for a secure one.
  '--host-resolver-rules=MAP insecure.test 127.0.0.1',
]

interface Found {
  executablePath: string
  env?: Record<string, string>
}

/** Undefined where there is none. */
export async function findChromium(): Promise<Found | undefined> {
  const given = process.env['CHROMIUM_PATH']
  if (given !== undefined && !existsSync(given)) {
    throw new Error('CHROMIUM_PATH names no file: correct it, or leave it out')
  }
  const executablePath = given ?? INSTALLED.find((path) => existsSync(path))
  const found = executablePath === undefined ? await unpacked() : { executablePath }
  if (!found && process.env['REQUIRE_BROWSER'] === '1') {
    throw new Error('There is no Chromium: install one, or name it in CHROMIUM_PATH')
  }
  return found
}

export function launch({ executablePath, env = {} }: Found): Promise<Browser> {
  const inherited = Object.entries(process.env).filter(([, value]) => value !== undefined)
  return chromium.launch({
    executablePath,
    args: ARGUMENTS,
    env: { ...(Object.fromEntries(inherited) as Record<string, string>), ...env },
  })
}

/** Unpacks the one of the npm package, with the libraries and a font that it needs, once. */
async function unpacked(): Promise<Found | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const packed = join(
    dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')),
    '../../bin',
  )
  const home = join(process.env['LASTING_TMPDIR'] ?? tmpdir(), 'strongroom-chromium-147')
  if (!existsSync(home)) await unpack(packed, home)
  return {
    executablePath: join(home, 'chromium'),
    env: { LD_LIBRARY_PATH: join(home, 'lib'), FONTCONFIG_PATH: home },
  }
}

/** Moved into its place as a whole, because other test files may do the same at this moment. */
async function unpack(packed: string, home: string) {
  const inflate = async (name: string) =>
    promisify(brotliDecompress)(await readFile(join(packed, name)))
  const directory = await mkdtemp(`${home}-`)
  await writeFile(join(directory, 'chromium'), await inflate('chromium.br'), { mode: 0o755 })
  for (const name of ['al2023.tar.br', 'fonts.tar.br']) {
    const { status } = spawnSync('tar', ['-x', '-C', directory], { input: await inflate(name) })
    if (status !== 0) throw new Error('Cannot unpack Chromium: tar failed')
  }
  // Without a font it ends at once.
  await writeFile(
    join(directory, 'fonts.conf'),
    `<fontconfig><dir>${home}/fonts</dir><dir>/usr/share/fonts</dir></fontconfig>`,
  )
  await rename(directory, home).catch(() => rm(directory, { recursive: true }))
}

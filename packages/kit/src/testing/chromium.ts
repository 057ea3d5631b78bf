/**
 * Chromium for the tests of pages: the one in CHROMIUM_PATH, an installed one, or on Linux the one
 * from an npm package. With REQUIRE_BROWSER=1 (set in CI) a missing one is an error.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { isOwnDirectory } from '@strongroom/platform/private-file'
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

/** Without a sandbox, because tests may run as root, and without background network requests. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Browsers treat localhost as a secure context; this name is not one.
  '--host-resolver-rules=MAP insecure.test 127.0.0.1',
]

interface Found {
  executablePath: string
  env?: Record<string, string>
}

/** Undefined if there is none. */
export async function findChromium(): Promise<Found | undefined> {
  const given = process.env['CHROMIUM_PATH']
  if (given !== undefined && !existsSync(given)) {
    throw new Error('The file in CHROMIUM_PATH does not exist. Correct it, or unset it.')
  }
  const executablePath = given ?? INSTALLED.find((path) => existsSync(path))
  const found = executablePath === undefined ? await findPackaged() : { executablePath }
  if (!found && process.env['REQUIRE_BROWSER'] === '1') {
    throw new Error('Chromium not found. Install it, or set CHROMIUM_PATH.')
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

/** Unpacks the one from the npm package, with its libraries and a font, once. */
async function findPackaged(): Promise<Found | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const packed = join(
    dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')),
    '../../bin',
  )
  const home = join(process.env['LASTING_TMPDIR'] ?? tmpdir(), 'strongroom-chromium-147')
  if (!existsSync(home)) await unpack(packed, home)
  // The name can be guessed, and what is in there is executed.
  if (!(await isOwnDirectory(home))) {
    throw new Error(`"${home}" belongs to another user: remove it, or set LASTING_TMPDIR`)
  }
  return {
    executablePath: join(home, 'chromium'),
    env: { LD_LIBRARY_PATH: join(home, 'lib'), FONTCONFIG_PATH: home },
  }
}

/** Renamed into place as a whole, because other test files may do the same concurrently. */
async function unpack(packed: string, home: string) {
  const inflate = async (name: string) =>
    promisify(brotliDecompress)(await readFile(join(packed, name)))
  const directory = await mkdtemp(`${home}-`)
  await writeFile(join(directory, 'chromium'), await inflate('chromium.br'), { mode: 0o755 })
  for (const name of ['al2023.tar.br', 'fonts.tar.br']) {
    const { status } = spawnSync('tar', ['-x', '-C', directory], { input: await inflate(name) })
    if (status !== 0) throw new Error('Cannot unpack Chromium: tar failed')
  }
  // Without a font Chromium exits.
  await writeFile(
    join(directory, 'fonts.conf'),
    `<fontconfig><dir>${home}/fonts</dir><dir>/usr/share/fonts</dir></fontconfig>`,
  )
  await rename(directory, home).catch(() => rm(directory, { recursive: true }))
}

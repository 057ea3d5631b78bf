/**
 * Builds the package of the WordPress plugin for one service, with the URL of the service and the
 * public keys that sign its releases. The same input gives the same bytes.
 */
import { Version } from '@strongroom/form-bridge/formats'
import { parseUrl } from '@strongroom/kit/parse-url'
import { type Zippable, zipSync } from 'fflate'
import source from '../../../../plugins/wordpress/form-bridge?files'
import { usageError } from '../command.ts'

export interface PluginBuild {
  /** Where the service is mounted. */
  service: string
  /** Keys that may sign releases: 32 bytes each, in base64. */
  publicKeys: readonly string[]
  /** Overrides the version of the source. */
  version?: string | undefined
}

/** The earliest date that zip supports, for every file. */
const DATE = new Date(1980, 0, 1)
/** A zip made on Unix, so that the mode counts. */
const UNIX = 3
const REGULAR_FILE = 0o100644
/** WordPress reads the first 8 kB of the main file, which contains the URL. */
const MAX_SERVICE_LENGTH = 2_000

/** The zip has one folder, named like the plugin. */
export function buildPlugin(build: PluginBuild): { version: string; zip: Uint8Array } {
  const files = new Map<string, Uint8Array | string>(
    (JSON.parse(source) as { name: string; base64: string }[]).map(({ name, base64 }) => [
      name,
      Buffer.from(base64, 'base64'),
    ]),
  )
  const text = (name: string) => Buffer.from(files.get(name) ?? '').toString()
  const main = text('form-bridge.php')
  const version = parseVersion(build.version ?? /^ \* Version: +(\S+)$/m.exec(main)?.[1])
  const service = parseService(build.service)
  const stableTag = replaceOnce(
    text('readme.txt'),
    /^(Stable tag: ).+$/m,
    (_line, label) => `${label}${version}`,
  )
  files.set('form-bridge.php', mainFile(main, version, service))
  files.set('build.php', buildFile(service, build.publicKeys.map(parsePublicKey)))
  files.set('readme.txt', stableTag)
  const entries: Zippable = {}
  for (const [name, content] of files) {
    // The mode also on Windows.
    const attributes = { mtime: DATE, os: UNIX, attrs: REGULAR_FILE << 16 }
    entries[`form-bridge/${name}`] = [Buffer.from(content), attributes]
  }
  return { version, zip: zipSync(entries, { level: 9 }) }
}

function parseVersion(given: string | undefined): string {
  const isVersion = given !== undefined && /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(given)
  if (isVersion && Version.safeParse(given).success) return given
  throw usageError(
    '--version must be like 1.2.0 or 1.2.0-beta.1, with at most 64 characters: sites compare it',
  )
}

function parseService(given: string): string {
  const url = parseUrl(given)
  if (!url || !/^https?:$/.test(url.protocol) || /[?#]/.test(given))
    throw usageError(
      '--service must be a URL such as https://forms.example.com/form-bridge, without a query',
    )
  if (url.username !== '' || url.password !== '')
    throw usageError(
      '--service must have no user name and no password: everyone who has the plugin could read them',
    )
  const service = url.href.replace(/\/+$/, '')
  // The URL is part of a comment in PHP, which an asterisk and a slash would end.
  if (service.includes('*') || service.length > MAX_SERVICE_LENGTH)
    throw usageError(
      `--service must have no asterisk and at most ${MAX_SERVICE_LENGTH} characters: mount the service at another path`,
    )
  return service
}

/** As the server accepts them in FORM_BRIDGE_RELEASE_KEYS. */
function parsePublicKey(given: string): string {
  if (given.length === 44 && Buffer.from(given, 'base64').toString('base64') === given) return given
  throw usageError(
    '--public-key must be 32 bytes in base64 (44 characters), as "strongroom plugin keygen" prints it',
  )
}

function mainFile(text: string, version: string, service: string): string {
  const withVersion = replaceOnce(
    text,
    /^( \* Version: +).+$/m,
    (_line, label) => `${label}${version}`,
  )
  const withConstant = replaceOnce(
    withVersion,
    /define\( 'FORM_BRIDGE_VERSION', '[^']*' \)/,
    () => `define( 'FORM_BRIDGE_VERSION', '${version}' )`,
  )
  return replaceOnce(
    withConstant,
    /^( \* Update URI: +).+$/m,
    (_line, label) => `${label}${service}/v1/plugins/form-bridge`,
  )
}

function buildFile(service: string, publicKeys: readonly string[]): string {
  const keys = publicKeys.map((key) => `\t\t'${key}',\n`).join('')
  return `<?php
/** The service that this copy of the plugin was built for. */

defined( 'ABSPATH' ) || exit;

return array(
\t'service_url'  => '${service.replaceAll(/['\\]/g, String.raw`\$&`)}',
\t'release_keys' => array(
${keys}\t),
);
`
}

/** A function makes the replacement, because a URL may contain `$&` and the like. */
function replaceOnce(
  text: string,
  pattern: RegExp,
  replacement: (line: string, label: string) => string,
): string {
  if (!pattern.test(text)) throw new Error(`No match for ${pattern} in the plugin's source`)
  return text.replace(pattern, replacement)
}

// Packs the WordPress plugin for one service, with the URL of the service and the public keys that
// sign its releases. The build is reproducible.
//
//   npm run build:plugin -- --service https://forms.example.com/form-bridge --public-key <base64>
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { zipSync } from 'fflate'
import { isMain, root } from './root.mjs'

const source = join(root, 'plugins/wordpress/form-bridge')
/** Only needed for development. */
const left = new Set(['tests'])
/** The earliest date that zip supports, for every file. */
const date = new Date(1980, 0, 1)

/**
 * @typedef {object} Build
 * @property {string} service Where the service is mounted.
 * @property {string[]} publicKeys Keys that may sign releases: 32 bytes each, in base64.
 * @property {string} [version] Overrides the version of the source.
 */

/**
 * The package: one folder named like the plugin.
 * @param {Build} build
 * @returns {{ version: string, zip: Uint8Array }}
 */
export function buildPlugin(build) {
  const text = readFileSync(join(source, 'form-bridge.php'), 'utf8')
  const version = build.version ?? /^ \* Version: +(\S+)$/m.exec(text)?.[1]
  if (version === undefined || !/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version))
    throw new Error('The version must be like 1.2.0 or 1.2.0-beta.1')
  const service = serviceUrl(build.service)
  const made = new Map([
    ['form-bridge.php', mainFile(text, version, service)],
    ['build.php', buildFile(service, build.publicKeys)],
    [
      'readme.txt',
      replaced(
        readFileSync(join(source, 'readme.txt'), 'utf8'),
        /^Stable tag: .+$/m,
        `Stable tag: ${version}`,
      ),
    ],
  ])
  /** @type {import('fflate').Zippable} */
  const files = {}
  for (const name of filesUnder(source)) {
    const content = made.get(name) ?? readFileSync(join(source, name))
    // The mode rw-r--r--, also on Windows.
    files[`form-bridge/${name}`] = [
      Buffer.from(content),
      { mtime: date, os: 3, attrs: 0o100644 << 16 },
    ]
  }
  return { version, zip: zipSync(files, { level: 9 }) }
}

/** @param {string} given */
function serviceUrl(given) {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new Error('The service must be a URL such as https://forms.example.com/form-bridge')
  return url.href.replace(/\/+$/, '')
}

/** @param {string} text @param {string} version @param {string} service */
function mainFile(text, version, service) {
  const withVersion = replaced(text, /^( \* Version: +).+$/m, `$1${version}`)
  const withConstant = replaced(
    withVersion,
    /define\( 'FORM_BRIDGE_VERSION', '[^']*' \)/,
    `define( 'FORM_BRIDGE_VERSION', '${version}' )`,
  )
  return replaced(withConstant, /^( \* Update URI: +).+$/m, `$1${service}/v1/plugins/form-bridge`)
}

/** @param {string} service @param {string[]} publicKeys */
function buildFile(service, publicKeys) {
  for (const key of publicKeys) {
    if (!/^[A-Za-z0-9+/]{43}=$/.test(key))
      throw new Error('A public key must be 32 bytes in base64 (44 characters)')
  }
  const keys = publicKeys.map((key) => `\t\t'${key}',\n`).join('')
  return `<?php
/** The service that this copy of the plugin was built for. */

defined( 'ABSPATH' ) || exit;

return array(
\t'service_url'  => '${service.replaceAll(/['\\]/g, '\\$&')}',
\t'release_keys' => array(
${keys}\t),
);
`
}

/** @param {string} text @param {RegExp} pattern @param {string} by */
function replaced(text, pattern, by) {
  if (!pattern.test(text))
    throw new Error(`No match for ${pattern} in the plugin: update scripts/build-plugin.mjs`)
  return text.replace(pattern, by)
}

/** @param {string} directory @returns {string[]} */
function filesUnder(directory) {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(source, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((name) => !left.has(name.split('/')[0] ?? ''))
    .toSorted()
}

function main() {
  const { values } = parseArgs({
    options: {
      service: { type: 'string' },
      'public-key': { type: 'string', multiple: true },
      version: { type: 'string' },
      out: { type: 'string' },
    },
  })
  const publicKeys = values['public-key'] ?? []
  if (values.service === undefined || publicKeys.length === 0)
    throw new Error('Pass --service <URL of the service> and --public-key <base64>')
  const { version, zip } = buildPlugin({
    service: values.service,
    publicKeys,
    ...(values.version === undefined ? {} : { version: values.version }),
  })
  const file = resolve(values.out ?? join(root, 'dist', `form-bridge-${version}.zip`))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, zip)
  console.log(file)
}

if (isMain(import.meta.url)) {
  try {
    main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

/** `strongroom plugin …`: builds the WordPress plugin, signs its releases offline and publishes them. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '@strongroom/platform/durable-directory'
import { createPrivateFile, replaceFile } from '@strongroom/platform/private-file'
import { type Command, type CommandOption, usageError } from '../command.ts'
import type { PluginBuild } from '../form-bridge/plugin-build.ts'
import { newSigningKey, readPackageFacts, signPackage } from '../form-bridge/plugin-signing.ts'
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import { columns } from '../output.ts'

/** Packages and signatures are published. */
const PUBLIC_FILE = 0o644

interface ReleaseLine {
  version: string
  status: string
  file_size: number
  sha256: string
}

interface ShownRelease extends ReleaseLine {
  slug: string
  published_at: string | null
  is_cached: boolean
}

const slugOption: Readonly<Record<string, CommandOption>> = {
  slug: { value: 'SLUG', summary: 'The plugin (form-bridge)' },
}

const pluginKeygen: Command = {
  name: 'plugin keygen',
  kind: 'standalone',
  summary: 'Create a release signing key and print its public half',
  options: { out: { value: 'FILE', summary: 'File for the private key (release.key)' } },
  about: `Keep the private key off the server. The public half goes into the plugin, which trusts nothing
else, and into FORM_BRIDGE_RELEASE_KEYS of the server.`,
  async run({ options, output }) {
    const file = String(options['out'] ?? 'release.key')
    const { pem, publicKey } = newSigningKey()
    await writeNewFile(file, pem).catch(rethrowFileError(file, 'written'))
    output.progress(`The private key is in ${file}: keep it off the server`)
    output.result(`${publicKey}\n`, { file, publicKey })
  },
}

const pluginBuild: Command = {
  name: 'plugin build',
  kind: 'standalone',
  summary: 'Build the WordPress plugin for your service, as a zip',
  options: {
    service: {
      value: 'URL',
      summary: 'Where sites reach the service, such as https://forms.example.com/form-bridge',
    },
    'public-key': {
      value: 'KEY',
      multiple: true,
      summary: 'Public key of your releases, as "plugin keygen" printed it; may be repeated',
    },
    version: { value: 'VERSION', summary: 'Version of the package (that of the source)' },
    out: { value: 'FILE', summary: 'File for the package (form-bridge-VERSION.zip)' },
  },
  about: `The URL and the keys are part of the package, and a site cannot change them. The same input gives the
same bytes. An existing file is replaced.`,
  async run({ options, lists, output }) {
    const publicKeys = lists['public-key'] ?? []
    if (options['service'] === undefined || publicKeys.length === 0) {
      throw usageError(
        'Pass --service, such as https://forms.example.com/form-bridge, and --public-key, as "strongroom plugin keygen" printed it',
      )
    }
    const build: PluginBuild = { service: String(options['service']), publicKeys }
    if (options['version'] !== undefined) build.version = String(options['version'])
    // Loaded when needed, because it contains the files of the plugin.
    const { buildPlugin } = await import('../form-bridge/plugin-build.ts')
    const { version, zip } = buildPlugin(build)
    const { slug, sha256 } = readPackageFacts(zip)
    const file = String(options['out'] ?? `${slug}-${version}.zip`)
    await replaceFile(file, zip, PUBLIC_FILE).catch(rethrowFileError(file, 'written'))
    output.progress(`${slug} ${version} is built: sign it with "strongroom plugin sign"`)
    output.result(`${file}\n`, { file, slug, version, bytes: zip.length, sha256 })
  },
}

const pluginSign: Command = {
  name: 'plugin sign',
  kind: 'standalone',
  args: 'ZIP',
  summary: 'Sign a plugin package and write the signature beside it',
  options: { key: { value: 'FILE', summary: 'Private key file (release.key)' } },
  async run({ args: [file = ''], options, output }) {
    const keyFile = String(options['key'] ?? 'release.key')
    const [zip, pem] = [await readBytes(file), await readBytes(keyFile)]
    const signed = signPackage(zip, pem.toString())
    await replaceFile(`${file}.sig`, `${signed.signature}\n`, PUBLIC_FILE).catch(
      rethrowFileError(`${file}.sig`, 'written'),
    )
    const { slug, version } = signed
    output.result(`${slug} ${version} is signed: ${file}.sig\n`, { ...signed, file: `${file}.sig` })
  },
}

const pluginPublish: Command = {
  name: 'plugin publish',
  kind: 'client',
  args: 'ZIP',
  summary: 'Publish a signed package as an update for all sites',
  options: {
    signature: {
      value: 'FILE',
      summary: 'Signature file (written by "plugin sign" beside the package)',
    },
    ...requiredServerOption,
  },
  async run(input) {
    const [file = ''] = input.args
    const zip = await readBytes(file)
    const signatureFile = String(input.options['signature'] ?? `${file}.sig`)
    const signature = (await readBytes(signatureFile)).toString().trim()
    const { slug, version } = readPackageFacts(zip)
    const headers = { 'content-type': 'application/zip', 'x-fb-release-signature': signature }
    const path = `/plugins/${slug}/${encodeURIComponent(version)}`
    const api = createServiceClient(input, 'form-bridge')
    const release = await api<ReleaseLine>('PUT', path, zip, headers)
    input.output.result(`${slug} ${version} is published\n`, release)
  },
}

const pluginVersions: Command = {
  name: 'plugin versions',
  kind: 'client',
  args: '[SLUG]',
  summary: 'List releases of a plugin (form-bridge), highest version first',
  options: requiredServerOption,
  async run(input) {
    const slug = parseSlug('SLUG', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const { items: found } = await api<{ items: ReleaseLine[] }>('GET', `/plugins/${slug}/versions`)
    const lines = found.map(
      ({ version, status, file_size, sha256 }) =>
        `${version}  ${status}  ${file_size} bytes  sha256 ${sha256}\n`,
    )
    input.output.result(lines.join('') || `There are no releases of ${slug}\n`, found)
  },
}

const pluginShow: Command = {
  name: 'plugin show',
  kind: 'client',
  args: 'VERSION',
  summary: 'Show a release: status, hash, whether it is the cached newest one',
  options: { ...slugOption, ...requiredServerOption },
  async run(input) {
    const slug = parseSlug('--slug', input.options['slug'])
    const path = `/plugins/${slug}/versions/${encodeURIComponent(input.args[0] ?? '')}`
    const release = await createServiceClient(input, 'form-bridge')<ShownRelease>('GET', path)
    const rows = [
      ['plugin', release.slug],
      ['version', release.version],
      ['status', release.status],
      ['published', release.published_at ?? 'never'],
      ['size', `${release.file_size} bytes`],
      ['sha256', release.sha256],
      ['cached', release.is_cached ? 'yes, sites are offered it' : 'no'],
    ]
    input.output.result(columns(rows), release)
  },
}

const pluginWithdraw: Command = {
  name: 'plugin withdraw',
  kind: 'client',
  args: 'VERSION',
  summary: 'Withdraw a release: it is no longer offered or downloadable',
  options: { ...slugOption, ...requiredServerOption },
  about: 'Sites that have it keep it. Its version cannot be used again.',
  async run(input) {
    const slug = parseSlug('--slug', input.options['slug'])
    const version = input.args[0] ?? ''
    const path = `/plugins/${slug}/${encodeURIComponent(version)}/withdraw`
    const release = await createServiceClient(input, 'form-bridge')<ReleaseLine>('POST', path)
    input.output.result(`${slug} ${release.version} is withdrawn\n`, release)
  },
}

function parseSlug(what: string, given: unknown = 'form-bridge'): string {
  if (typeof given === 'string' && /^[a-z0-9-]{1,64}$/.test(given)) return given
  throw usageError(`${what} must have 1 to 64 lower-case letters, digits and hyphens`)
}

async function writeNewFile(file: string, text: string): Promise<void> {
  await using handle = await createPrivateFile(file)
  await handle.writeFile(text)
  await handle.sync()
  syncDirectory(dirname(file))
}

async function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch(rethrowFileError(file, 'read'))
}

function rethrowFileError(file: string, what: 'read' | 'written') {
  return (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EEXIST') throw usageError(`${file} already exists: choose another file`)
    throw usageError(
      `${file} cannot be ${what} (${error.code ?? 'unknown reason'}): check its path`,
    )
  }
}

export const commands: readonly Command[] = [
  pluginKeygen,
  pluginBuild,
  pluginSign,
  pluginPublish,
  pluginVersions,
  pluginShow,
  pluginWithdraw,
]

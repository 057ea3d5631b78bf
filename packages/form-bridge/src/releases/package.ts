/** Reads a plugin package: its slug, version and details. */
import { parseUrl } from '@strongroom/kit/parse-url'
import { Slug, Version } from '../formats.ts'
import type { ReleaseDetails } from './item.ts'
import { escapeHtml, readField, readReadme } from './readme.ts'
import { invalidPackage, readFirstName, unpackPlugin } from './zip.ts'

export interface PluginPackage {
  slug: string
  version: string
  details: ReleaseDetails
}

/** Leaves room for the other attributes of the release in its item. */
const MAX_DETAILS_LENGTH = 200_000

/** Throws `release_invalid` if the package cannot be published. */
export function readPackage(zip: Uint8Array, slug: string): PluginPackage {
  if (!Slug.safeParse(slug).success) {
    throw invalidPackage('The package has no folder whose name is a plugin slug')
  }
  const files = unpackPlugin(zip, slug)
  const main = files.get(`${slug}/${slug}.php`)
  if (!main) throw invalidPackage(`The package has no ${slug}/${slug}.php`)
  const header = readPluginHeader(main)
  if (header.name === '') throw invalidPackage(`${slug}.php has no "Plugin Name"`)
  const { version } = header
  if (!Version.safeParse(version).success) {
    throw invalidPackage(`${slug}.php has no valid "Version"`)
  }
  const readme = readReadme(Buffer.from(files.get(`${slug}/readme.txt`) ?? '').toString())
  const { stable_tag } = readme
  if (stable_tag !== '' && stable_tag !== 'trunk' && stable_tag !== version) {
    throw invalidPackage(`readme.txt has "Stable tag" ${stable_tag}, but the version is ${version}`)
  }
  const details: ReleaseDetails = {
    name: header.name,
    author: authorLink(header),
    homepage: normalizeLink(header.plugin_uri),
    requires: header.requires || readme.requires,
    requires_php: header.requires_php || readme.requires_php,
    tested: readme.tested,
    upgrade_notice: readme.upgradeNotice(version),
    sections: { description: `<p>${escapeHtml(header.description)}</p>`, ...readme.sections },
  }
  if (JSON.stringify(details).length > MAX_DETAILS_LENGTH) {
    throw invalidPackage('readme.txt is too long')
  }
  return { slug, version, details }
}

/** The name of the folder in the package. */
export function readSlug(zip: Uint8Array): string {
  const [, slug = ''] = /^([^/]+)\//.exec(readFirstName(zip)) ?? []
  return slug
}

/** The part of the main file that WordPress reads. */
const HEADER_BYTES = 8_192

type PluginHeader = ReturnType<typeof readPluginHeader>

/** The header of the main file, as WordPress reads it: one field on each line. */
function readPluginHeader(file: Uint8Array) {
  const text = Buffer.from(file.subarray(0, HEADER_BYTES)).toString().replaceAll('\r', '\n')
  return {
    name: readField(text, 'Plugin Name'),
    version: readField(text, 'Version'),
    author: readField(text, 'Author'),
    author_uri: readField(text, 'Author URI'),
    plugin_uri: readField(text, 'Plugin URI'),
    description: readField(text, 'Description'),
    requires: readField(text, 'Requires at least'),
    requires_php: readField(text, 'Requires PHP'),
  }
}

function authorLink({ author, author_uri }: PluginHeader): string {
  const link = normalizeLink(author_uri)
  const name = escapeHtml(author)
  return link === '' ? name : `<a href="${escapeHtml(link)}">${name}</a>`
}

/** Empty if it is not an http or https URL. */
function normalizeLink(text: string): string {
  return /^https?:\/\//i.test(text) ? (parseUrl(text)?.href ?? '') : ''
}

/** Plugin packages to publish: zips with a folder, signed by a release key of the test. */
import { zipSync } from 'fflate'
import { createReleaseKey, packageHash, signRelease } from '../../src/releases/signature.ts'
import type { ApiResponse, CallApi } from './test-service.ts'

export const releaseKey = createReleaseKey()

export function pluginZip(
  version: string,
  { slug = 'form-bridge', files = {} }: { slug?: string; files?: Record<string, Uint8Array> } = {},
): Uint8Array {
  const header = `<?php
/**
 * Plugin Name: Form-Bridge
 * Plugin URI: https://form-bridge.example/plugin
 * Description: Sends forms <safely>
 * Version: ${version}
 * Requires at least: 5.8
 * Requires PHP: 7.4
 * Author: The "Bridge" Team
 * Author URI: https://form-bridge.example/
 */
`
  const readme = `=== Form-Bridge ===
Tested up to: 7.1
Stable tag: ${version}

Sends forms.

== Description ==

Sends **forms** to [a place](https://form-bridge.example/).

== Changelog ==

= ${version} =
* Faster <script>alert(1)</script>
* Better

== Upgrade Notice ==

= ${version} =
Please update
`
  return zipSync({
    [`${slug}/${slug}.php`]: Buffer.from(header),
    [`${slug}/readme.txt`]: Buffer.from(readme),
    ...files,
  })
}

export function signatureOf(
  zip: Uint8Array,
  version: string,
  { slug = 'form-bridge', key = releaseKey.privateKey } = {},
): string {
  return signRelease({ slug, version, sha256: packageHash(zip) }, key)
}

export function publish(
  call: CallApi,
  operator: string,
  version: string,
  { zip = pluginZip(version), signature = signatureOf(zip, version), slug = 'form-bridge' } = {},
): Promise<ApiResponse> {
  return call('PUT', `/plugins/${slug}/${version}`, {
    token: operator,
    bytes: zip,
    headers: { 'content-type': 'application/zip', 'x-fb-release-signature': signature },
  })
}

import { expect, test } from 'vitest'
import { readField, readReadme } from '../../src/releases/readme.ts'

const readme = `=== Form-Bridge ===
Tested up to: 7.1
Requires PHP: 7.4
Stable tag: 1.2.0

Sends forms.

== Description ==

Sends **forms** to [a place](https://form-bridge.example/).

== Screenshots ==

1. Not shown

== Frequently Asked Questions ==

= Why? =
Because \`it\` works.

== Upgrade Notice ==

= 1.2.0 =
Please update

= 1.1.0 =
Old
`

test('a readme is parsed into its fields, the sections that WordPress shows, and upgrade notices', () => {
  const { sections, upgradeNotice, ...fields } = readReadme(readme)
  expect(fields).toEqual({ tested: '7.1', requires: '', requires_php: '7.4', stable_tag: '1.2.0' })
  expect(sections).toEqual({
    description:
      '<p>Sends <strong>forms</strong> to <a href="https://form-bridge.example/">a place</a>.</p>',
    faq: '<h4>Why?</h4>\n<p>Because <code>it</code> works.</p>',
  })
  expect(upgradeNotice('1.2.0')).toBe('Please update')
  expect(upgradeNotice('1.0.0')).toBe('')
})

test('a field ends at the end of the plugin header comment', () => {
  expect(readField(' * Version: 1.2.0 */ more', 'Version')).toBe('1.2.0')
  expect(readField('<?php /* Version: 1.2.0 ?>', 'Version')).toBe('1.2.0')
})

const LENGTH = 100_000

// Each of these took minutes with a backtracking regular expression.
test.each([
  ['a heading of spaces', `== ${' '.repeat(LENGTH)}x`],
  ['a subheading of spaces', `== FAQ ==\n= ${' '.repeat(LENGTH)}x`],
  ['open brackets', `== FAQ ==\n${'['.repeat(LENGTH)}`],
  ['a field of spaces', `Tested up to: ${' '.repeat(LENGTH)}x`],
])('%s is read in linear time', { timeout: 5_000 }, (_, text) => {
  expect(readReadme(text).upgradeNotice('1.0.0')).toBe('')
})

#!/usr/bin/env node
// Launches the bundled command line; in a clone, bundles it again first if sources changed.
import { setup } from '../../../scripts/setup.mjs'

await setup()
await import(new URL('../../../dist/strongroom.js', import.meta.url).href)

#!/usr/bin/env node
// The launcher of the bundled command line; in a clone it also bundles what has changed.
import { setup } from '../../../scripts/setup.mjs'

await setup()
await import(new URL('../../../dist/strongroom.js', import.meta.url).href)

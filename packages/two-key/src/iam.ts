/** The functions of Two-key that can be deployed on their own, each with the access that it needs. */
import type { ServiceFunction } from '@strongroom/kit/data-model'
import { serverTable } from '@strongroom/kit/server-table'
import { cacheTable, dedupeTable, tokensTable } from './tables.ts'

export const functions: readonly ServiceFunction[] = [
  {
    name: 'slack-event-handler',
    summary: 'Verifies Slack requests and sends them to the app',
    allows: [
      { table: cacheTable, actions: ['GetItem', 'PutItem'] },
      // It deletes the token of an app that was uninstalled.
      { table: tokensTable, actions: ['GetItem', 'DeleteItem'] },
      { table: dedupeTable, actions: ['PutItem', 'DeleteItem'] },
      { table: serverTable, actions: ['GetItem', 'PutItem', 'Query'], leadingKeys: ['KNOWN#*'] },
      { table: serverTable, actions: ['GetItem'], leadingKeys: ['SLACKAPP'] },
    ],
  },
  {
    name: 'slack-installations',
    summary: 'Manages Slack apps and the bot tokens of workspaces',
    allows: [
      // An installation works once.
      { table: dedupeTable, actions: ['PutItem'] },
      { table: tokensTable, actions: ['GetItem', 'PutItem', 'DeleteItem', 'Scan'] },
      {
        table: serverTable,
        actions: ['GetItem', 'PutItem', 'DeleteItem', 'Query'],
        leadingKeys: ['SLACKAPP', 'SLACKAPP#FIRST'],
      },
    ],
  },
  {
    name: 'status',
    summary: 'Shows operators which apps cannot verify',
    allows: [{ table: serverTable, actions: ['Query'], leadingKeys: ['SLACKAPP'] }],
  },
]

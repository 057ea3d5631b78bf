/** One event of each type as Slack's documentation shows it, with the ids of the sample workspace. */
import type { types } from '@slack/bolt'
import { type Body, CHANNEL, TEAM, USER } from './samples.ts'

/** `app_rate_limited` is not wrapped in an event. */
type EventType = Exclude<types.SlackEvent['type'], 'app_rate_limited'>

const event_ts = '1700000000.000100'
const DM = 'D00000001'
const OTHER_TEAM = 'T0PARTNER'

const sharedChannel = { id: CHANNEL, is_private: false, is_im: false, name: 'connect' }
const teamItem = (id: string) => ({ id, name: 'n', domain: 'd', is_verified: false, icon: {} })
const person = (id: string, team_id: string) => ({
  id,
  team_id,
  name: 'ada',
  updated: 1_700_000_000,
  profile: { real_name: 'Ada', team: team_id, email: 'ada@example.com' },
})
const invite = {
  id: 'I00000001',
  date_created: 1_700_000_000,
  date_invalid: 1_701_000_000,
  inviting_team: teamItem(OTHER_TEAM),
  inviting_user: person('U0PARTNER', OTHER_TEAM),
  recipient_user_id: 'U0000BOT1',
}
const teams_in_channel = [teamItem(OTHER_TEAM), teamItem(TEAM)]
const item = { type: 'message', channel: CHANNEL, ts: event_ts }
const pin = { type: 'message', channel: CHANNEL, created_by: USER, created: 1_700_000_000 }
const file = { file_id: 'F00000001', file: { id: 'F00000001' }, event_ts }
const profile = { id: USER, team_id: TEAM, name: 'ada', deleted: false, profile: { team: TEAM } }
const subteam = { id: 'S00000001', team_id: TEAM, created_by: USER, users: [USER], user_count: 1 }
const steps = { version_id: '1', app_steps: [] }
const metadata = { event_type: 'task', event_payload: { Id: '1', id: '2' } }
const metadataEvent = {
  app_id: 'A00000001',
  user_id: USER,
  team_id: TEAM,
  channel_id: CHANNEL,
  message_ts: event_ts,
  event_ts,
}
const installedApp = {
  app_id: 'A0OTHER',
  app_name: 'other',
  app_owner_id: USER,
  team_id: TEAM,
  team_domain: 'fake',
  event_ts,
}
const assistant_thread = {
  user_id: USER,
  context: { channel_id: 'C0ELSEWHERE', team_id: TEAM, enterprise_id: null },
  channel_id: DM,
  thread_ts: event_ts,
}
const inChannel = { user: USER, channel: CHANNEL, event_ts }

const events: Readonly<Record<EventType, Body>> = {
  agent_session_stopped: { ...inChannel, thread_ts: event_ts, streaming_message_ts: [event_ts] },
  agent_session_title_changed: { ...inChannel, team_id: TEAM, thread_ts: event_ts, title: 't' },
  app_context_changed: {
    ...inChannel,
    context: { entities: [{ type: 'slack#/types/channel_id', value: 'C0ELSEWHERE' }] },
  },
  app_deleted: installedApp,
  app_home_opened: { user: USER, channel: DM, tab: 'home', event_ts },
  app_installed: { ...installedApp, user_id: USER },
  app_mention: { ...inChannel, text: '<@U0000BOT1> hello', ts: event_ts, team: TEAM },
  app_requested: {
    app_request: { id: 'Ar1', app: { id: 'A0OTHER', name: 'other' } },
    user: { id: USER, name: 'ada', email: 'ada@example.com' },
    team: { id: TEAM, name: 'Fake', domain: 'fake' },
  },
  app_uninstalled: {},
  app_uninstalled_team: { ...installedApp, user_id: USER },
  assistant_thread_context_changed: { assistant_thread, event_ts },
  assistant_thread_started: { assistant_thread, event_ts },
  call_rejected: { call_id: 'R1', user_id: USER, channel_id: CHANNEL, external_unique_id: '1' },
  channel_archive: inChannel,
  channel_created: {
    channel: { id: CHANNEL, name: 'new', creator: USER, context_team_id: TEAM },
    event_ts,
  },
  channel_deleted: { channel: CHANNEL },
  channel_history_changed: { channel: CHANNEL, latest: event_ts, ts: event_ts, event_ts },
  channel_id_changed: { old_channel_id: 'G0BEFORE', new_channel_id: CHANNEL, event_ts },
  channel_left: { channel: CHANNEL, actor_id: USER, event_ts },
  channel_rename: { channel: { id: CHANNEL, name: 'n', created: 1, is_channel: true }, event_ts },
  channel_shared: { connected_team_id: 'E0PARTNER', channel: CHANNEL, event_ts },
  channel_unarchive: inChannel,
  channel_unshared: {
    previously_connected_team_id: 'E0PARTNER',
    channel: CHANNEL,
    is_ext_shared: false,
    event_ts,
  },
  dnd_updated: { user: USER, dnd_status: { dnd_enabled: true }, event_ts },
  dnd_updated_user: { user: USER, dnd_status: { dnd_enabled: true }, event_ts },
  email_domain_changed: { email_domain: 'example.com', event_ts },
  emoji_changed: { subtype: 'add', name: 'picard_facepalm', value: 'https://example.com/p.gif' },
  entity_details_requested: {
    ...inChannel,
    trigger_id: '1.2.3',
    link: { url: 'https://example.com/1', domain: 'example.com' },
    entity_url: 'https://example.com/1',
    user_locale: 'en-US',
    external_ref: { id: '1', type: 'task' },
  },
  file_change: file,
  file_comment_deleted: { ...file, comment: 'Fc1' },
  file_created: { ...file, user_id: USER },
  file_deleted: { file_id: 'F00000001', channel_ids: [CHANNEL], event_ts },
  file_public: { ...file, user_id: USER },
  file_shared: { ...file, user_id: USER, channel_id: CHANNEL },
  file_unshared: { ...file, user_id: USER, channel_id: CHANNEL },
  function_executed: {
    function: { id: 'Fn1', callback_id: 'sample', title: 'Sample', app_id: 'A00000001' },
    inputs: { user_id: USER, User_Id: 'U0OTHER' },
    function_execution_id: 'Fx1',
    workflow_execution_id: 'Wx1',
    event_ts,
  },
  grid_migration_finished: { enterprise_id: 'E00000001' },
  grid_migration_started: { enterprise_id: 'E00000001' },
  group_archive: inChannel,
  group_close: { user: USER, channel: CHANNEL },
  group_deleted: { channel: CHANNEL, date_deleted: 1_700_000_000, actor_id: USER, event_ts },
  group_history_changed: { channel: CHANNEL, latest: event_ts, ts: event_ts, event_ts },
  group_left: { channel: CHANNEL, actor_id: USER, event_ts },
  group_open: { user: USER, channel: CHANNEL },
  group_rename: { channel: { id: CHANNEL, name: 'n', created: 1 }, event_ts },
  group_unarchive: { channel: CHANNEL, actor_id: USER, event_ts },
  im_close: { user: USER, channel: DM, event_ts },
  im_created: { user: USER, channel: { id: DM } },
  im_history_changed: { channel: DM, latest: event_ts, ts: event_ts, event_ts },
  im_open: { user: USER, channel: DM, event_ts },
  invite_requested: {
    invite_request: {
      id: '1',
      email: 'bront@example.com',
      requester_ids: [USER],
      channel_ids: [CHANNEL],
      team: { id: TEAM, name: 'Fake', domain: 'fake' },
    },
  },
  link_shared: {
    ...inChannel,
    is_bot_user_member: false,
    message_ts: event_ts,
    unfurl_id: 'u',
    source: 'conversations_history',
    links: [{ domain: 'example.com', url: 'https://example.com/1' }],
  },
  member_joined_channel: { ...inChannel, channel_type: 'C', team: TEAM, inviter: USER },
  member_left_channel: { ...inChannel, channel_type: 'C', team: TEAM },
  message: { ...inChannel, text: 'hello', ts: event_ts, team: TEAM, channel_type: 'channel' },
  message_metadata_deleted: { ...metadataEvent, previous_metadata: metadata, deleted_ts: '1' },
  message_metadata_posted: { ...metadataEvent, metadata },
  message_metadata_updated: { ...metadataEvent, metadata, previous_metadata: metadata },
  pin_added: { user: USER, channel_id: CHANNEL, item: pin, item_user: USER, event_ts },
  pin_removed: { user: USER, channel_id: CHANNEL, item: pin, has_pins: false, event_ts },
  reaction_added: { user: USER, reaction: 'thumbsup', item_user: 'U00000002', item, event_ts },
  reaction_removed: { user: USER, reaction: 'thumbsup', item_user: 'U00000002', item, event_ts },
  shared_channel_invite_accepted: {
    approval_required: false,
    invite,
    channel: sharedChannel,
    teams_in_channel,
    accepting_user: person(USER, TEAM),
    event_ts,
  },
  shared_channel_invite_approved: {
    invite,
    channel: sharedChannel,
    approving_team_id: TEAM,
    teams_in_channel,
    approving_user: person(USER, TEAM),
    event_ts,
  },
  shared_channel_invite_declined: {
    invite,
    channel: sharedChannel,
    declining_team_id: TEAM,
    teams_in_channel,
    declining_user: person(USER, TEAM),
    event_ts,
  },
  shared_channel_invite_received: { invite, channel: sharedChannel, event_ts },
  shared_channel_invite_requested: {
    actor: { ...person(USER, TEAM), is_bot: false, timezone: 'Europe/Berlin' },
    channel_id: CHANNEL,
    event_type: 'slack#/events/shared_channel_invite_requested',
    channel_name: 'connect',
    channel_type: 'public',
    target_users: [{ email: 'bront@example.com', invite_id: 'I00000001' }],
    teams_in_channel: [teamItem(TEAM)],
    is_external_limited: true,
    event_ts,
  },
  star_added: { user: USER, item, event_ts },
  star_removed: { user: USER, item, event_ts },
  subteam_created: { subteam, event_ts },
  subteam_members_changed: { subteam_id: 'S1', team_id: TEAM, added_users: [USER], event_ts },
  subteam_self_added: { subteam_id: 'S00000001', event_ts },
  subteam_self_removed: { subteam_id: 'S00000001', event_ts },
  subteam_updated: { subteam, event_ts },
  team_access_granted: { team_ids: [TEAM], event_ts },
  team_access_revoked: { team_ids: [TEAM], event_ts },
  team_domain_change: { url: 'https://my.slack.com', domain: 'my' },
  team_join: { user: profile, cache_ts: 1, event_ts },
  team_rename: { name: 'New name' },
  tokens_revoked: { tokens: { oauth: [USER], bot: [] } },
  user_change: { user: profile, cache_ts: 1, event_ts },
  user_huddle_changed: { user: profile, cache_ts: 1, event_ts },
  user_profile_changed: { user: profile, cache_ts: 1, event_ts },
  user_status_changed: { user: profile, cache_ts: 1, event_ts },
  workflow_deleted: { workflow_id: '1', workflow_draft_configuration: steps, event_ts },
  workflow_published: { workflow_id: '1', workflow_published_configuration: steps, event_ts },
  workflow_step_deleted: { workflow_id: '1', workflow_draft_configuration: steps, event_ts },
  workflow_step_execute: {
    callback_id: 'step',
    workflow_step: { workflow_step_execute_id: '1', workflow_id: '1', inputs: {}, outputs: [] },
    event_ts,
  },
  workflow_unpublished: { workflow_id: '1', workflow_draft_configuration: steps, event_ts },
}

/** By type. The types of Slack's own package name every type, so that none can be missing here. */
export const eventSamples: Readonly<Record<string, Body>> = Object.fromEntries(
  Object.entries(events).map(([type, event]) => [type, { type, ...event }]),
)

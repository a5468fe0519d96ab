/** Shows the notices that the gateway pushes to this browser (src/shared/push.ts, PushMessage). No other duty: it caches nothing. */
self.addEventListener("push", (event) => {
  const { title, body, path } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, data: path, tag: title }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data));
});

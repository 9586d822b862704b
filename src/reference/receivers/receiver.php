<?php
$secret = getenv('REFCHECK_WEBHOOK_SECRET') ?: throw new Exception('set REFCHECK_WEBHOOK_SECRET');

$body = file_get_contents('php://input'); // the exact bytes, before anything parses them
$received = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '';
if (!hash_equals(hash_hmac('sha256', $body, $secret), $received)) {
    http_response_code(401);
    exit;
}

$event = json_decode($body, true);
if (!is_string($event['request_id'] ?? null) || !is_string($event['status'] ?? null)) {
    http_response_code(400);
    exit;
}

// Replace this by your database. There is one file for each (request_id, status): events may be delivered again.
$name = hash('sha256', "{$event['request_id']} {$event['status']}");
if (file_put_contents(getenv('EVENTS') . "/$name.json", $body, LOCK_EX) === false) {
    http_response_code(500);
    exit;
}
http_response_code(204);

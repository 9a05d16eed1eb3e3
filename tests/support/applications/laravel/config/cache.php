<?php
// Where values are kept for a while. The name of the variable is that of newer versions of Laravel.

return [
    'default' => env('CACHE_STORE', env('CACHE_DRIVER', 'file')),
    'stores' => [
        'array' => ['driver' => 'array', 'serialize' => false],
        'file' => ['driver' => 'file', 'path' => storage_path('framework/cache/data')],
        'redis' => ['driver' => 'redis', 'connection' => 'cache', 'lock_connection' => 'default'],
    ],
    'prefix' => env('CACHE_PREFIX', 'shop_cache'),
];
